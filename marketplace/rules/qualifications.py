"""Qualification requirements: conditions on a worker to see, preview or accept a HIT."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

NUMBER_HITS_APPROVED = "00000000000000000040"
PERCENT_ASSIGNMENTS_APPROVED = "000000000000000000L0"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
SYSTEM_TYPES = {
    NUMBER_HITS_APPROVED: "Number of HITs approved",
    PERCENT_ASSIGNMENTS_APPROVED: "Percent of assignments approved",
    LOCALE: "Location",
    ADULT: "Adult content",
}
# Until a worker has submitted this many assignments, the share counts as 100%.
PERCENT_COUNTS_FROM = 100


class Action(StrEnum):
    """The actions that a requirement can guard; each includes the ones before it."""

    ACCEPT = "Accept"
    PREVIEW = "PreviewAndAccept"
    DISCOVER = "DiscoverPreviewAndAccept"


class Standing(msgspec.Struct, frozen=True):
    """A worker's values by qualification type, including system types, and where they live."""

    values: dict[str, int]
    country: str = ""
    subdivision: str = ""


def guards(requirement: Mapping[str, Any]) -> Action:
    """Return the actions a requirement guards; the old RequiredToPreview is PreviewAndAccept."""
    given = requirement.get("ActionsGuarded")
    if given:
        return Action(given)
    return Action.PREVIEW if requirement.get("RequiredToPreview") else Action.ACCEPT


def applies(requirement: Mapping[str, Any], action: Action) -> bool:
    """Tell whether the worker has to meet the requirement for the action."""
    order = list(Action)
    return order.index(guards(requirement)) >= order.index(action)


def is_met(requirement: Mapping[str, Any], standing: Standing) -> bool:
    """Compare a requirement, in the API's form, with a worker's standing.

    A worker without the qualification meets only DoesNotExist. A locale is compared only as far as
    it is given.
    """
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    if type_id == LOCALE:
        return _locale_is_met(comparator, requirement.get("LocaleValues") or [], standing)
    value = standing.values.get(type_id)
    if comparator == "Exists":
        return value is not None
    if comparator == "DoesNotExist":
        return value is None
    if value is None:
        return False
    wanted: list[int] = requirement.get("IntegerValues") or []
    if comparator == "In":
        return value in wanted
    if comparator == "NotIn":
        return value not in wanted
    if not wanted:
        return False
    comparisons: dict[str, bool] = {
        "LessThan": value < wanted[0],
        "LessThanOrEqualTo": value <= wanted[0],
        "GreaterThan": value > wanted[0],
        "GreaterThanOrEqualTo": value >= wanted[0],
        "EqualTo": value == wanted[0],
        "NotEqualTo": value != wanted[0],
    }
    return comparisons[comparator]


def percent_approved(approved: int, submitted: int) -> int:
    """Return the share of decided assignments that were approved, 0 to 100.

    >>> percent_approved(10, 20), percent_approved(99, 200)
    (100, 49)
    """
    if submitted < PERCENT_COUNTS_FROM:
        return 100
    return approved * 100 // submitted


def _locale_is_met(comparator: str, locales: list[Mapping[str, str]], standing: Standing) -> bool:
    matches = any(
        locale.get("Country") == standing.country
        and locale.get("Subdivision") in (None, "", standing.subdivision)
        for locale in locales
    )
    return matches if comparator in ("EqualTo", "In") else not matches
