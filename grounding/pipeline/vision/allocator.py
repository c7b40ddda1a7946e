"""Memory kept between batches, because allocating it again takes as long as the network.

The layers of a network need blocks of many megabytes for a moment. glibc returns such blocks to the
system at once, which must clear them page by page for the next batch.
"""

import ctypes
import functools

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8


@functools.cache
def keep_memory() -> bool:
    """Keep freed memory in this process for later batches; return whether that is possible.

    This lasts until the process ends. It does nothing if the C library is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    # Large blocks come from the heap; the heap never shrinks; and all threads share one heap,
    # because a thread's own heap is returned to the system whenever it is empty.
    wishes = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_ARENA_MAX, 1))
    granted = [mallopt(what, value) == 1 for what, value in wishes]
    return all(granted)
