"""Results, written in the shapes of the service's model.

Every result is checked, in production too: it costs little, and an unexpected member makes old
clients treat a call as failed.
"""

from datetime import datetime
from typing import Any

from botocore.model import ListShape, OperationModel, Shape, StructureShape

from marketplace.api.service import output_of

_TYPES = {"integer": int, "long": int, "string": str, "boolean": bool, "timestamp": datetime}


class MisfitError(Exception):
    """An operation's result does not fit the model: our mistake, not the caller's."""


def written(operation: OperationModel, result: dict[str, Any]) -> dict[str, Any] | None:
    """Return a result ready for JSON; None: the operation has no result, and the body is empty."""
    shape = output_of(operation)
    if shape is None:
        if result:
            raise MisfitError(f"{operation.name} has no result, but returned {sorted(result)}")
        return None
    return _structure(shape, result, operation.name)


def _structure(shape: StructureShape, value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MisfitError(f"{place}: {type(value).__name__} in place of {shape.name}")
    unknown = value.keys() - shape.members.keys()
    if unknown:
        raise MisfitError(f"{place}: {shape.name} has no member {', '.join(sorted(unknown))}")
    return {
        name: _value(shape.members[name], member, f"{place}.{name}")
        for name, member in value.items()
        if member is not None
    }


def _value(shape: Shape, value: Any, place: str) -> Any:
    if isinstance(shape, StructureShape):
        return _structure(shape, value, place)
    if isinstance(shape, ListShape):
        if not isinstance(value, list | tuple):
            raise MisfitError(f"{place}: {type(value).__name__} in place of a list")
        return [_value(shape.member, item, f"{place}[{n}]") for n, item in enumerate(value)]
    wanted = _TYPES[shape.type_name]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise MisfitError(f"{place}: {type(value).__name__} in place of {shape.type_name}")
    if isinstance(value, datetime):
        return _epoch_seconds(value, place)
    if isinstance(value, str):
        allowed = shape.metadata.get("enum")
        if allowed and value not in allowed:
            raise MisfitError(f"{place}: {shape.name} has no value {value!r}")
    return value


def _epoch_seconds(value: datetime, place: str) -> int | float:
    if value.tzinfo is None:
        raise MisfitError(f"{place}: a time without a zone")
    seconds = round(value.timestamp(), 3)
    return int(seconds) if seconds == int(seconds) else seconds
