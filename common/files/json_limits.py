"""JSON from outside: limits on depth, length and size, checked before a parser sees it.

Parsers pay for a few bytes with a lot of memory: a prefix for every level, an object for every
pair of brackets. One crashes the process at an integer of 4,301 digits.
"""

import re
from typing import IO

MOST_DEPTH = 32
MOST_DIGITS = 100
LONGEST_KEY = 1000
LONGEST_STRING = 2**20
# A value at the third level is one image or annotation, and is held in memory completely.
ENTRY_DEPTH = 3
LARGEST_ENTRY = 2**20

_TOKEN = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:\\?\Z|"[ \t\r\n]*+:?)'  # a string, and whether it is a key
    rb"|[\[\]{}]"
    rb"|[0-9.eE+-]++",
    re.DOTALL,
)
_QUOTE, _COLON = b'":'


class JsonLimitError(ValueError):
    """The JSON exceeds a limit at the byte `offset`; the message names the limit."""

    def __init__(self, why: str, offset: int) -> None:
        super().__init__(why)
        self.offset = offset


class JsonLimits:
    """Looks through JSON that comes in pieces; `see` raises JsonLimitError.

    The parser decides whether it is JSON at all.
    """

    def __init__(self) -> None:
        self._depth = 0
        # The offset in the file of the piece that is being checked.
        self._offset = 0
        self._entry_at = 0
        # A string or number that may continue in the next piece.
        self._tail = b""

    def see(self, piece: bytes) -> None:
        content = self._tail + piece
        tail_at = len(content)
        for token in _TOKEN.finditer(content):
            first, start, end = content[token.start()], token.start(), token.end()
            if first == _QUOTE:
                self._string(content, start, end)
            elif first in b"[{":
                self._open(start)
            elif first in b"]}":
                self._depth -= 1
            elif end - start > MOST_DIGITS:
                raise self._error(f"a number has more than {MOST_DIGITS} digits", start)
            if end == len(content) and first not in b"[]{}":
                tail_at = start
        self._tail = content[tail_at:]
        self._offset += tail_at
        self._entry(0)

    def _open(self, at: int) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self._error(f"lists and objects are nested more than {MOST_DEPTH} deep", at)
        if self._depth == ENTRY_DEPTH:
            self._entry_at = self._offset + at
        self._entry(at)

    def _entry(self, at: int) -> None:
        if self._depth >= ENTRY_DEPTH and self._offset + at - self._entry_at > LARGEST_ENTRY:
            raise JsonLimitError(
                f"the entry that begins here is larger than {LARGEST_ENTRY // 2**20} MB",
                self._entry_at,
            )

    def _string(self, content: bytes, start: int, end: int) -> None:
        if end - start > LONGEST_STRING:
            raise self._error(f"a text is longer than {LONGEST_STRING // 2**20} MB", start)
        if end - start > LONGEST_KEY and content[end - 1] == _COLON:
            raise self._error(f"a key has more than {LONGEST_KEY:,} characters", start)

    def _error(self, why: str, at: int) -> JsonLimitError:
        return JsonLimitError(why, self._offset + at)


class LimitedJson:
    """A JSON file for parsers to read; every piece is checked before they get it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._limits = JsonLimits()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._limits.see(piece)
        return piece


def check_json(content: bytes) -> None:
    """Refuse a document that exceeds a limit (JsonLimitError)."""
    JsonLimits().see(content)
