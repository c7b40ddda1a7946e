"""Settings of a recipe as options: of the command line, and of the form on the page.

A setting may be a whole number, a number, a text, a truth value, one of several words (Literal),
or a tuple of any length of numbers or words.
"""

import math
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec
from msgspec import inspect

from grounding.recipes.recipe import Settings

_TRUTH = ("true", "false")


class Option(NamedTuple):
    """A setting that can be given as text. `expected` completes the sentence “give …”."""

    name: str
    label: str
    help: str
    default: Any
    choices: tuple[str, ...]
    expected: str
    is_list: bool
    type: Any

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def default_text(self) -> str:
        return self.typed(self.default)

    def typed(self, value: Any) -> str:
        """Return a value as one would type it."""
        return ",".join(_typed(one) for one in (value if self.is_list else (value,)))

    def parse(self, text: str) -> Any:
        """Return the value that `text` stands for; raise ValueError if it is not a valid one."""
        given: Any = [part.strip() for part in text.split(",")] if self.is_list else text.strip()
        try:
            value = msgspec.convert(given, self.type, strict=False)
        except msgspec.ValidationError:
            raise ValueError(f"“{text}” is not valid: give {self.expected}") from None
        numbers = value if self.is_list else (value,)
        if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
            raise ValueError(f"“{text}” is not valid: give {self.expected}")
        return value


def options_of(settings: type[Settings]) -> list[Option]:
    """Return an option for each setting, those of the recipe itself first."""
    fields = msgspec.structs.fields(settings)
    shared = {one.name for one in msgspec.structs.fields(Settings)}
    return [_option(one) for one in sorted(fields, key=lambda one: one.name in shared)]


def _option(one: msgspec.structs.FieldInfo) -> Option:
    kind, words = _bare(inspect.type_info(one.type))
    choices: tuple[str, ...] = ()
    if isinstance(kind, inspect.LiteralType):
        choices = _written(one.type)
    elif isinstance(kind, inspect.BoolType):
        choices = _TRUTH
    return Option(
        name=one.name,
        label=words.get("title", one.name.replace("_", " ").capitalize()),
        help=words.get("description", ""),
        default=one.default,
        choices=choices,
        expected=f"one of {', '.join(choices)}" if choices else _expected(kind),
        is_list=isinstance(kind, inspect.VarTupleType),
        type=one.type,
    )


def _written(kind: Any) -> tuple[str, ...]:
    """Return the values of a Literal in the order in which they are written; msgspec sorts them."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return tuple(str(value) for value in get_args(kind))


def _bare(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    if isinstance(kind, inspect.Metadata):
        return kind.type, kind.extra_json_schema or {}
    return kind, {}


def _expected(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.VarTupleType):
        return f"{_expected(_bare(kind.item_type)[0])}, or several separated by commas"
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        what = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
        limits = [
            f"at least {kind.ge:g}" if kind.ge is not None else "",
            f"at most {kind.le:g}" if kind.le is not None else "",
        ]
        said = " and ".join(limit for limit in limits if limit)
        return f"{what} of {said}" if said else what
    if isinstance(kind, inspect.StrType):
        return "a text"
    raise TypeError(f"a setting cannot be given as text: {kind}")


def _typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
