"""Requests, checked against the service's model and against limits that only its docs give."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from botocore.model import ListShape, OperationModel, Shape, StructureShape

from marketplace.api.errors import FrontError, not_serialisable
from marketplace.rules.errors import invalid_value
from marketplace.rules.money import cents

YEAR = 31_536_000
BILLION = 1_000_000_000
DOCUMENT_BYTES = 65_535
# The largest reward or bonus, in cents. MTurk's pages do not give one; this is ours.
MOST_CENTS = 1_000_000


class Limit(msgspec.Struct, frozen=True):
    """The minimum and maximum of a member's value, or of its characters, bytes or items."""

    least: int | None = None
    most: int | None = None
    in_bytes: bool = False


# Documented, but not in the model. A member has the same limit everywhere.
LIMITS: dict[str, Limit] = {
    # HIT types and HITs
    "Title": Limit(1, 128),
    "Description": Limit(1, 2_000),
    "Keywords": Limit(most=1_000),
    "RequesterAnnotation": Limit(most=255),
    "Question": Limit(1, DOCUMENT_BYTES, in_bytes=True),
    "LifetimeInSeconds": Limit(30, YEAR),
    "AssignmentDurationInSeconds": Limit(30, YEAR),
    "AutoApprovalDelayInSeconds": Limit(0, 2_592_000),
    "MaxAssignments": Limit(1, BILLION),
    "NumberOfAdditionalAssignments": Limit(1, BILLION),
    "QualificationRequirements": Limit(most=10),
    "IntegerValues": Limit(most=15),
    "LocaleValues": Limit(most=30),
    # Assignments
    "RequesterFeedback": Limit(most=1_024),
    # Qualification types
    "Name": Limit(1, 200),
    "Test": Limit(1, DOCUMENT_BYTES, in_bytes=True),
    "AnswerKey": Limit(1, DOCUMENT_BYTES, in_bytes=True),
    # The upper bounds of these two are ours: a request or a test takes at most a year.
    "TestDurationInSeconds": Limit(1, YEAR),
    "RetryDelayInSeconds": Limit(0, YEAR),
    # Messages
    "Subject": Limit(1, 200),
    "MessageText": Limit(1, 4_096),
    "WorkerIds": Limit(1, 100),
}

# Characters that XML does not allow, and that not every database stores.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BITS = {"integer": 32, "long": 64}
_WANTED = {"integer": "an Integer", "long": "a Long", "string": "a String", "boolean": "a Boolean"}


def validated(operation: OperationModel, body: dict[str, Any]) -> dict[str, Any]:
    """Return an operation's parameters with Python values; timestamps become datetimes.

    Members that are null or unknown to the model are left out, as AWS does. FrontError
    SerializationException: a value has the wrong JSON type. ValidationException: values are missing
    or break a rule; all are named. RequestError: a string holds control characters.
    """
    shape = operation.input_shape
    if not isinstance(shape, StructureShape):
        return {}
    violations: list[str] = []
    params = _structure(shape, body, "", violations)
    if violations:
        count = f"{len(violations)} validation error{'s' if len(violations) > 1 else ''} detected: "
        raise FrontError("ValidationException", count + "; ".join(violations))
    return params


def unknown_refuse(operation: OperationModel, body: dict[str, Any]) -> None:
    """Refuse members that the operation does not know (FrontError ValidationException)."""
    shape = operation.input_shape
    known = shape.members if isinstance(shape, StructureShape) else {}
    unknown = ", ".join(_short(name) for name in sorted(body.keys() - known.keys()))
    if unknown:
        raise FrontError("ValidationException", f"{operation.name} does not know: {unknown}")


def _structure(
    shape: StructureShape, value: Any, path: str, violations: list[str]
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise not_serialisable("Expected structure or null")
    params = {}
    for name, member in shape.members.items():
        place = path + name[:1].lower() + name[1:]
        if value.get(name) is None:
            if name in shape.required_members:
                violations.append(_violation(None, place, "Member must not be null"))
            continue
        params[name] = _value(member, name, value[name], place, violations)
    return params


def _value(shape: Shape, name: str, value: Any, place: str, violations: list[str]) -> Any:
    if isinstance(shape, StructureShape):
        return _structure(shape, value, f"{place}.", violations)
    if isinstance(shape, ListShape):
        return _list(shape, name, value, place, violations)
    if isinstance(value, list):
        raise not_serialisable("Start of list found where not expected")
    if isinstance(value, dict):
        raise not_serialisable("Start of structure or map found where not expected.")
    if shape.type_name == "timestamp":
        return _timestamp(value)
    if shape.type_name == "boolean":
        return value if isinstance(value, bool) else _refuse(shape, value)
    if shape.type_name in _BITS:
        number = _whole_number(shape, value)
        _check_number(shape, name, number, place, violations)
        return number
    if not isinstance(value, str):
        return _refuse(shape, value)
    _check_string(shape, name, value, place, violations)
    return value


def _list(shape: ListShape, name: str, value: Any, place: str, violations: list[str]) -> Any:
    if not isinstance(value, list):
        raise not_serialisable("Expected list or null")
    for limit in _limits(shape, name):
        _check_length(len(value), limit, value, place, violations)
    return [
        _value(shape.member, "", item, f"{place}.{number}.member", violations)
        for number, item in enumerate(value, start=1)
        if item is not None
    ]


def _limits(shape: Shape, name: str) -> Sequence[Limit]:
    model = shape.metadata
    found = [Limit(model.get("min"), model.get("max"))] if {"min", "max"} & model.keys() else []
    return [*found, LIMITS[name]] if name in LIMITS else found


def _check_number(shape: Shape, name: str, number: int, place: str, violations: list[str]) -> None:
    for limit in _limits(shape, name):
        if limit.least is not None and number < limit.least:
            rule = f"Member must have value greater than or equal to {limit.least}"
            violations.append(_violation(number, place, rule))
        if limit.most is not None and number > limit.most:
            rule = f"Member must have value less than or equal to {limit.most}"
            violations.append(_violation(number, place, rule))


def _check_length(
    length: int, limit: Limit, value: object, place: str, violations: list[str]
) -> None:
    if limit.least is not None and length < limit.least:
        rule = f"Member must have length greater than or equal to {limit.least}"
        violations.append(_violation(value, place, rule))
    if limit.most is not None and length > limit.most:
        rule = f"Member must have length less than or equal to {limit.most}"
        violations.append(_violation(value, place, rule))


def _check_string(shape: Shape, name: str, value: str, place: str, violations: list[str]) -> None:
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise not_serialisable("Half of a surrogate pair found where not expected") from None
    if _UNFIT.search(value):
        raise invalid_value(name or place, _UNFIT.sub("\N{REPLACEMENT CHARACTER}", _short(value)))
    for limit in _limits(shape, name):
        length = len(encoded) if limit.in_bytes else len(value)
        _check_length(length, limit, value, place, violations)
    allowed = shape.metadata.get("enum")
    if allowed and value not in allowed:
        rule = f"Member must satisfy enum value set: [{', '.join(allowed)}]"
        violations.append(_violation(value, place, rule))
    pattern = shape.metadata.get("pattern")
    # fullmatch: `$` alone would allow a line break at the end.
    if pattern and not re.fullmatch(pattern, value):
        rule = f"Member must satisfy regular expression pattern: {pattern}"
        violations.append(_violation(value, place, rule))
    elif shape.name == "CurrencyAmount" and (len(value) > 12 or cents(value) > MOST_CENTS):
        rule = f"Member must have value less than or equal to {MOST_CENTS // 100}"
        violations.append(_violation(value, place, rule))


def _whole_number(shape: Shape, value: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        _refuse(shape, value)
    bound = 1 << (_BITS[shape.type_name] - 1)
    if not -bound <= value < bound:
        raise not_serialisable(
            f"Numeric value ({_short(value)}) out of range of {_WANTED[shape.type_name]}"
        )
    return int(value)


def _timestamp(value: Any) -> datetime:
    """Read epoch seconds, whole or with a fraction, or ISO 8601; without a zone it is UTC."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        if not isinstance(value, bool):
            return _EPOCH + timedelta(seconds=value)
    except (ValueError, OverflowError):
        pass
    raise not_serialisable(f"{_short(value)} can not be converted to a Timestamp")


def _refuse(shape: Shape, value: object) -> Any:
    match value:
        case bool():
            kind = "TRUE_VALUE" if value else "FALSE_VALUE"
        case int():
            kind = "NUMBER_VALUE"
        case float():
            kind = "DECIMAL_VALUE"
        case _:
            kind = "STRING_VALUE"
    raise not_serialisable(f"{kind} can not be converted to {_WANTED[shape.type_name]}")


def _violation(value: object, place: str, rule: str) -> str:
    shown = "null" if value is None else f"'{_short(value)}'"
    return f"Value {shown} at '{place}' failed to satisfy constraint: {rule}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "…"
