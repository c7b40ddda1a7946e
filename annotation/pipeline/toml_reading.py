"""Reading TOML that people write: what is wrong with it is said in plain words."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

Table = TypeVar("Table", bound=msgspec.Struct)

MOST_CHARACTERS = 500_000

_KINDS = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number with a point",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "date": "a date",
    "datetime": "a date",
    "time": "a time",
    "null": "nothing",
}
_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_KIND = re.compile(r"^Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<field>.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<field>.*)`$")
_LENGTH = re.compile(
    r"^Expected `array` of (?:at (?:least|most) )?length (?P<wanted>\d+), got (?P<got>\d+)$"
)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


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
        raise TomlError(_plain(str(error), type_)) from None


def _plain(message: str, type_: type[msgspec.Struct]) -> str:
    found = _AT.match(message)
    assert found is not None  # it matches any text
    what, path = found["what"], found["path"] or ""
    place = _place(path)
    if unknown := _UNKNOWN.match(what):
        known = ", ".join(f"`{name}`" for name in _fields_at(type_, path))
        return f"{_lead(place)}there is no field `{unknown['field']}`; there are: {known}"
    if missing := _MISSING.match(what):
        return f"{_lead(place)}`{missing['field']}` is missing"
    if kind := _KIND.match(what):
        wanted, got = (
            " or ".join(_KINDS.get(name, name) for name in kind[part].split(" | "))
            for part in ("wanted", "got")
        )
        # Fields that may be left out take "null", which TOML cannot write.
        return f"{place or 'it'} must be {wanted.replace(' or nothing', '')}, not {got}"
    if length := _LENGTH.match(what):
        return f"{place or 'it'} must be a list of {length['wanted']}, not of {length['got']}"
    return f"{_lead(place)}{what}"


def _place(path: str) -> str:
    """Put `.captions[0].number` in words: `captions`, entry 1, `number`."""
    steps = [
        f"`{name}`" if name else f"entry {int(index) + 1}" for name, index in _STEP.findall(path)
    ]
    return ", ".join(steps)


def _lead(place: str) -> str:
    return f"{place}: " if place else ""


def _fields_at(type_: type[msgspec.Struct], path: str) -> tuple[str, ...]:
    """Return the fields there are where an error's path leads."""
    for name in re.findall(r"\.(\w+)", path):
        inner = {field.name: field.type for field in msgspec.structs.fields(type_)}[name]
        types = [inner, *getattr(inner, "__args__", ())]
        type_ = next(t for t in types if isinstance(t, type) and issubclass(t, msgspec.Struct))
    return type_.__struct_fields__
