"""Reading TOML that people write, with errors in plain words.

The library takes time that grows with the square of a key's parts, so a key of 400 KB would take
minutes. Size, parts and nesting are therefore checked before it sees anything.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from common.files.plain_errors import plain_error

Table = TypeVar("Table", bound=msgspec.Struct)

LARGEST_TOML = 256 * 1024  # bytes
MOST_PARTS = 16
MOST_DEPTH = 16

# Strings and comments are skipped. An unclosed one extends to the end, as it does for the library,
# which then refuses it. Up to two quotes may stand before the three closing quotes.
_TOKEN = re.compile(
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\\?\Z)|"(?:[^"\\\n]|\\.)*+"?"""
    r"""|'{3}(?:[^']|'(?!''))*+(?:'{3,5}|\Z)|'[^'\n]*+'?"""
    r"|\#[^\n]*+|[\[\]{}.=,\n]",
    re.DOTALL,
)


class TomlError(ValueError):
    """The text cannot be read; the message says where and why."""


def read_toml(source: str) -> dict[str, Any]:
    """Parse TOML; TomlError names the line. Do not use it inside a transaction: it is slow."""
    if len(source.encode("utf-8", "replace")) > LARGEST_TOML:
        raise too_large()
    _check_nesting(source)
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"not TOML: {error}") from None
    except ValueError:  # a number of thousands of digits
        raise TomlError("not TOML: a number in it is too long") from None
    except RecursionError:
        raise TomlError("not TOML: its brackets are nested too deeply") from None


def too_large() -> TomlError:
    return TomlError(f"it is larger than {LARGEST_TOML // 1024} KB")


def _check_nesting(source: str) -> None:
    depth, parts = 0, 1
    for token in _TOKEN.finditer(source):
        sign = token[0]
        if sign == ".":
            parts += 1
            if parts > MOST_PARTS:
                raise _at(source, token.start(), f"a key has more than {MOST_PARTS} parts")
        elif sign in "[{":
            depth, parts = depth + 1, 1
            if depth > MOST_DEPTH:
                why = f"lists and tables are nested more than {MOST_DEPTH} deep"
                raise _at(source, token.start(), why)
        elif sign in "]}":
            depth, parts = depth - 1, 1
        elif sign in "=,\n":
            parts = 1


def _at(source: str, position: int, why: str) -> TomlError:
    line = source.count("\n", 0, position) + 1
    return TomlError(f"line {line}: {why}")


def convert_table(table: Mapping[str, Any], type_: type[Table]) -> Table:
    """Turn a table into a struct, strictly; TomlError names the field."""
    try:
        return msgspec.convert(table, type_)
    except msgspec.ValidationError as error:
        raise TomlError(plain_error(error, type_)) from None
