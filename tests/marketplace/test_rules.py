"""The marketplace's pure rules, as MTurk documents them."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.errors import RequestError
from marketplace.rules.ids import access_key_id, person_id, thing_id
from marketplace.rules.lifecycle import HITStatus, Places, hit_status
from marketplace.rules.money import cents, dollars, fee
from marketplace.rules.qualifications import (
    LOCALE,
    Action,
    Standing,
    applies,
    guards,
    is_met,
    percent_approved,
)
from marketplace.rules.requirements import requirements_check


@pytest.mark.parametrize(
    ("accepted", "submitted", "completed", "expired", "status"),
    [
        (0, 0, 0, False, HITStatus.ASSIGNABLE),
        (1, 0, 0, False, HITStatus.ASSIGNABLE),
        (1, 1, 0, False, HITStatus.UNASSIGNABLE),
        (0, 2, 0, False, HITStatus.REVIEWABLE),
        (0, 0, 2, False, HITStatus.REVIEWABLE),
        (0, 1, 0, True, HITStatus.REVIEWABLE),
        (1, 0, 0, True, HITStatus.UNASSIGNABLE),
        (0, 0, 0, True, HITStatus.REVIEWABLE),
    ],
)
def test_a_hit_of_two_places(
    accepted: int, submitted: int, completed: int, expired: bool, status: HITStatus
) -> None:
    places = Places(maximum=2, accepted=accepted, submitted=submitted, completed=completed)
    assert hit_status(places, expired=expired) is status
    assert hit_status(places, expired=expired, disposed=True) is HITStatus.DISPOSED
    reviewing = hit_status(places, expired=expired, reviewing=True)
    assert reviewing is (HITStatus.REVIEWING if status is HITStatus.REVIEWABLE else status)


@pytest.mark.parametrize(
    ("comparator", "wanted", "value", "met"),
    [
        ("LessThan", [80], 79, True),
        ("LessThan", [80], 80, False),
        ("LessThanOrEqualTo", [80], 80, True),
        ("GreaterThan", [80], 80, False),
        ("GreaterThanOrEqualTo", [80], 80, True),
        ("EqualTo", [80], 80, True),
        ("EqualTo", [80], 81, False),
        ("NotEqualTo", [80], 81, True),
        ("NotEqualTo", [80], None, False),
        ("In", [1, 3], 3, True),
        ("In", [1, 3], 2, False),
        ("NotIn", [1, 3], 2, True),
        ("NotIn", [1, 3], None, False),
        ("Exists", [], 0, True),
        ("Exists", [], None, False),
        ("DoesNotExist", [], None, True),
        ("DoesNotExist", [], 0, False),
        ("GreaterThan", [80], None, False),
    ],
)
def test_comparators(comparator: str, wanted: list[int], value: int | None, met: bool) -> None:
    standing = Standing(values={} if value is None else {"3TYPE": value})
    requirement = {
        "QualificationTypeId": "3TYPE",
        "Comparator": comparator,
        "IntegerValues": wanted,
    }
    assert is_met(requirement, standing) is met


@pytest.mark.parametrize(
    ("comparator", "locales", "met"),
    [
        ("EqualTo", [{"Country": "US"}], True),
        ("EqualTo", [{"Country": "US", "Subdivision": "PA"}], True),
        ("EqualTo", [{"Country": "US", "Subdivision": "NY"}], False),
        ("NotEqualTo", [{"Country": "US", "Subdivision": "CA"}], True),
        ("In", [{"Country": "IN"}, {"Country": "US"}], True),
        ("NotIn", [{"Country": "IN"}, {"Country": "US"}], False),
    ],
)
def test_a_worker_of_pennsylvania(
    comparator: str, locales: list[dict[str, str]], met: bool
) -> None:
    standing = Standing(values={}, country="US", subdivision="PA")
    requirement = {
        "QualificationTypeId": LOCALE,
        "Comparator": comparator,
        "LocaleValues": locales,
    }
    assert is_met(requirement, standing) is met


def test_a_country_alone_does_not_meet_a_state() -> None:
    requirement: dict[str, Any] = {
        "QualificationTypeId": LOCALE,
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "US", "Subdivision": "PA"}],
    }
    assert not is_met(requirement, Standing(values={}, country="US"))


def test_how_many_requirements_and_values_are_allowed() -> None:
    one: dict[str, Any] = {"QualificationTypeId": "3X", "Comparator": "Exists"}
    requirements_check([one] * 10)
    with pytest.raises(RequestError, match="there are 11 of them, and 10 are allowed"):
        requirements_check([one] * 11)
    integers = one | {"Comparator": "In"}
    requirements_check([integers | {"IntegerValues": list(range(15))}])
    with pytest.raises(RequestError, match="1 to 15 IntegerValues, not 16"):
        requirements_check([integers | {"IntegerValues": list(range(16))}])
    with pytest.raises(RequestError, match="not 0"):
        requirements_check([integers])
    place = {"QualificationTypeId": LOCALE, "Comparator": "NotIn"}
    requirements_check([place | {"LocaleValues": [{"Country": "DE"}] * 30}])
    with pytest.raises(RequestError, match="1 to 30 LocaleValues, not 31"):
        requirements_check([place | {"LocaleValues": [{"Country": "DE"}] * 31}])


def test_what_a_requirement_guards() -> None:
    assert guards({}) is Action.ACCEPT
    assert guards({"RequiredToPreview": True}) is Action.PREVIEW
    discover = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    assert [applies(discover, action) for action in Action] == [True, True, True]
    assert [applies({}, action) for action in Action] == [True, False, False]


def test_the_share_of_approvals_counts_from_a_hundred_on() -> None:
    assert percent_approved(1, 99) == 100
    assert percent_approved(90, 100) == 90
    assert percent_approved(199, 200) == 99


@given(st.integers(0, 10**9))
def test_money_is_written_and_read_back(amount: int) -> None:
    assert cents(dollars(amount)) == amount


@pytest.mark.parametrize("text", ["", ".5", "1.234", "-1", "1,5", "1e3", " 1", "١"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(RequestError):
        cents(text)


@given(st.integers(0, 10**6), st.integers(0, 100))
def test_a_fee_is_rounded_up_to_a_cent(amount: int, percent: int) -> None:
    assert 0 <= fee(amount, percent) * 100 - amount * percent < 100


def test_ids_look_as_they_did() -> None:
    assert re.fullmatch(r"3[A-Z0-9]{29}", thing_id())
    assert re.fullmatch(r"A[A-Z0-9]{13}", person_id())
    assert re.fullmatch(r"AKIA[A-Z0-9]{16}", access_key_id())
    assert len({thing_id() for _ in range(1000)}) == 1000
