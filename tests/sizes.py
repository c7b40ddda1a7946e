"""How much the largest tests do.

`make test` has half an hour on two slow cores; `make test-whole` runs those that read this at the
size they were meant for.
"""

import os

WHOLE = os.environ.get("CHAINBOX_TESTS") == "whole"
