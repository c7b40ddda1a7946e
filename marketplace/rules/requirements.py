"""Whether qualification requirements are well formed: which values go with which comparator."""

from collections.abc import Iterable, Mapping
from typing import Any

from marketplace.rules.errors import RequestError
from marketplace.rules.qualifications import LOCALE

MOST_REQUIREMENTS = 10
MOST_INTEGERS = 15
MOST_LOCALES = 30
_WITHOUT_VALUES = ("Exists", "DoesNotExist")
_SEVERAL = ("In", "NotIn")
_LOCALE_COMPARATORS = ("EqualTo", "NotEqualTo", "In", "NotIn")


def requirements_check(requirements: Iterable[Mapping[str, Any]]) -> None:
    """Refuse requirements that nobody could evaluate (RequestError InvalidParameterValue)."""
    listed = list(requirements)
    if len(listed) > MOST_REQUIREMENTS:
        raise _refused(f"there are {len(listed)} of them, and {MOST_REQUIREMENTS} are allowed")
    for requirement in listed:
        if requirement["QualificationTypeId"] == LOCALE:
            _check_locale(requirement)
        else:
            _check_integers(requirement)


def _check_locale(requirement: Mapping[str, Any]) -> None:
    comparator = requirement["Comparator"]
    locales = requirement.get("LocaleValues") or []
    if comparator not in _LOCALE_COMPARATORS:
        raise _refused(f"a location cannot be compared with {comparator}")
    if requirement.get("IntegerValues"):
        raise _refused("a location is compared with LocaleValues, not with IntegerValues")
    _check_count("LocaleValues", comparator, len(locales), MOST_LOCALES)
    for locale in locales:
        if locale.get("Subdivision") and locale["Country"] != "US":
            raise _refused("only locations in the US have a Subdivision")


def _check_integers(requirement: Mapping[str, Any]) -> None:
    comparator = requirement["Comparator"]
    values = requirement.get("IntegerValues") or []
    if requirement.get("LocaleValues"):
        raise _refused("LocaleValues are for the location's qualification only")
    if comparator in _WITHOUT_VALUES:
        if values:
            raise _refused(f"{comparator} takes no IntegerValues")
        return
    _check_count("IntegerValues", comparator, len(values), MOST_INTEGERS)


def _check_count(name: str, comparator: str, count: int, most: int) -> None:
    if comparator in _SEVERAL:
        if not 1 <= count <= most:
            raise _refused(f"{comparator} takes 1 to {most} {name}, not {count}")
    elif count != 1:
        raise _refused(f"{comparator} takes one of {name}, not {count}")


def _refused(reason: str) -> RequestError:
    return RequestError(
        "InvalidParameterValue",
        f"The value is not valid for the parameter QualificationRequirements: {reason}.",
    )
