"""Reading TOML that people write: what is wrong with it is said in plain words."""

import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from annotation.pipeline.plain_errors import plain_error

Table = TypeVar("Table", bound=msgspec.Struct)

MOST_CHARACTERS = 500_000


class TomlError(ValueError):
    """The text cannot be read; the message says where and why."""


def read_toml(source: str) -> dict[str, Any]:
    """Parse TOML; TomlError names the line."""
    if len(source) > MOST_CHARACTERS:
        raise TomlError(f"longer than {MOST_CHARACTERS:,} characters")
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"not TOML: {error}") from None
    except ValueError:  # a number of thousands of digits
        raise TomlError("not TOML: a number in it is too long") from None
    except RecursionError:
        raise TomlError("not TOML: its brackets are nested too deeply") from None


def convert_table(table: Mapping[str, Any], type_: type[Table]) -> Table:
    """Turn a table into a struct, strictly; TomlError names the field."""
    try:
        return msgspec.convert(table, type_)
    except msgspec.ValidationError as error:
        raise TomlError(plain_error(error, type_)) from None
