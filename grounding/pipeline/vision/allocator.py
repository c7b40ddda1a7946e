"""Memory that is kept between batches, because fetching it anew costs as much as the network.

The layers of a network need blocks of many megabytes for a moment. glibc gives such blocks back to
the system at once, and each time the next batch asks, the system must clear them page by page.
"""

import ctypes
import functools

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8


@functools.cache
def keep_memory() -> bool:
    """Let this process keep freed memory for later batches; say whether that was possible.

    Holds for the rest of the process. Does nothing where the C library is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    # Large blocks from the heap, not from the system; the heap is never made smaller; and one
    # heap for all threads, as those of single threads are given back whenever they are empty.
    wishes = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_ARENA_MAX, 1))
    granted = [mallopt(what, value) == 1 for what, value in wishes]
    return all(granted)
