"""Whether a pickle can be read in little time and memory, tried in a process with limits.

A pickle of a hundred bytes can contain a key whose hash takes years. torch does not run its code,
but still reads it. So it is read here first, with a stand-in for every object, in a process that
the kernel ends at its limits.
"""

import subprocess
import sys
from typing import IO

MOST_SECONDS = 1
MOST_BYTES = 128 << 20
# The status if memory runs out. If it is not a pickle at all, torch reports that.
_OUT_OF_MEMORY = 3
_PROGRAM = """
import pickle, resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_CPU, (most, most))
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
class StandIn:
    def __init__(self, *values, **named): pass
    def __setstate__(self, state): pass
class Rehearsal(pickle.Unpickler):
    def find_class(self, module, name):
        return dict if name == "OrderedDict" else StandIn
    def persistent_load(self, key):
        return StandIn()
try:
    for _ in range(int(sys.argv[3])):
        Rehearsal(sys.stdin.buffer).load()
except MemoryError:
    sys.exit(3)
except Exception:
    pass
"""


def is_harmless(file: IO[bytes], pickles: int) -> bool:
    """Return whether the next `pickles` pickles of the file can be read."""
    done = subprocess.run(
        [
            *(sys.executable, "-I", "-c", _PROGRAM),
            *(str(MOST_SECONDS), str(MOST_BYTES), str(pickles)),
        ],
        stdin=file,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode >= 0 and done.returncode != _OUT_OF_MEMORY
