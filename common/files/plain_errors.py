"""Errors in values that people wrote, in plain words instead of msgspec's."""

import re
from enum import Enum
from typing import Any

import msgspec

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
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
_CHOICE = re.compile(r"^Invalid enum value (?P<value>.*)$", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def plain_error(error: msgspec.ValidationError, type_: type[msgspec.Struct]) -> str:
    """Say why a value could not become a `type_`, and where in the value.

    >>> class Dog(msgspec.Struct):
    ...     legs: int
    >>> try:
    ...     msgspec.convert({"legs": "4"}, Dog)
    ... except msgspec.ValidationError as error:
    ...     print(plain_error(error, Dog))
    `legs` must be a whole number, not text
    """
    found = _AT.match(str(error))
    assert found is not None  # it matches any text
    what, path = found["what"], found["path"] or ""
    place = _place(path)
    lead = f"{place}: " if place else ""
    if unknown := _UNKNOWN.match(what):
        known = ", ".join(f"`{name}`" for name in _type_at(type_, path).__struct_fields__)
        return f"{lead}there is no field `{unknown['field']}`; there are: {known}"
    if missing := _MISSING.match(what):
        return f"{lead}`{missing['field']}` is missing"
    if kind := _KIND.match(what):
        # Optional fields accept "null", which nobody writes.
        wanted = _kinds(kind["wanted"].replace(" | null", ""))
        return f"{place or 'it'} must be {wanted}, not {_kinds(kind['got'])}"
    if length := _LENGTH.match(what):
        return f"{place or 'it'} must be a list of {length['wanted']}, not of {length['got']}"
    choices = _type_at(type_, path)
    if (choice := _CHOICE.match(what)) and issubclass(choices, Enum):
        known = ", ".join(str(member.value) for member in choices)
        return f"{lead}{choice['value']} is none of the choices; there are: {known}"
    return f"{lead}{what}"


def _kinds(names: str) -> str:
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))


def _place(path: str) -> str:
    """Put `.captions[0].number` in words: `captions`, entry 1, `number`."""
    steps = [
        f"`{name}`" if name else f"entry {int(index) + 1}" for name, index in _STEP.findall(path)
    ]
    return ", ".join(steps)


def _type_at(type_: Any, path: str) -> Any:
    """Return the struct or other class where an error's path leads."""
    for name in re.findall(r"\.(\w+)", path):
        inner = {field.name: field.type for field in msgspec.structs.fields(type_)}[name]
        classes = [t for t in (inner, *getattr(inner, "__args__", ())) if isinstance(t, type)]
        type_ = next((t for t in classes if issubclass(t, msgspec.Struct)), classes[0])
    return type_
