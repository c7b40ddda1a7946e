"""Requirements and times in plain words, for workers."""

from collections.abc import Mapping
from typing import Any

from marketplace.rules.countries import COUNTRIES, STATES
from marketplace.rules.qualifications import ADULT, LOCALE, SYSTEM_TYPES

_COMPARISONS = {
    "LessThan": "is less than",
    "LessThanOrEqualTo": "is at most",
    "GreaterThan": "is greater than",
    "GreaterThanOrEqualTo": "is at least",
    "EqualTo": "is",
    "NotEqualTo": "is not",
    "In": "is one of",
    "NotIn": "is none of",
    "Exists": "has been granted",
    "DoesNotExist": "has not been granted",
}
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def requirement_words(requirement: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Say what a requirement asks for; `names` gives the names of requesters' qualification types.

    >>> requirement_words(
    ...     {"QualificationTypeId": LOCALE, "Comparator": "In",
    ...      "LocaleValues": [{"Country": "IE"}, {"Country": "US", "Subdivision": "NY"}]}, {})
    'Location is one of Ireland, New York (United States)'
    """
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    name = SYSTEM_TYPES.get(type_id) or names.get(type_id) or "A qualification no longer offered"
    if type_id == ADULT:
        return "You accept work with adult content"
    words = f"{name} {_COMPARISONS[comparator]}"
    if type_id == LOCALE:
        values = [_place(locale) for locale in requirement.get("LocaleValues") or []]
    else:
        values = [str(value) for value in requirement.get("IntegerValues") or []]
    return f"{words} {', '.join(values)}" if values else words


def _place(locale: Mapping[str, str]) -> str:
    country = COUNTRIES.get(locale.get("Country", ""), locale.get("Country", ""))
    part = locale.get("Subdivision")
    return f"{STATES.get(part, part)} ({country})" if part else country


def duration_words(seconds: int) -> str:
    """Write a span of time in its two largest units.

    >>> duration_words(3_600), duration_words(5_430), duration_words(0)
    ('1 hour', '1 hour 30 minutes', '0 seconds')
    """
    parts = []
    for name, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts) or "0 seconds"
