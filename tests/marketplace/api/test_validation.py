"""Requests against the service's model and the documented limits, and results against the model."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from botocore.model import OperationModel, StructureShape
from botocore.parsers import create_parser
from botocore.serialize import create_serializer
from hypothesis import given
from hypothesis import strategies as st

from marketplace.api.errors import FrontError
from marketplace.api.results import MisfitError, written
from marketplace.api.service import operation_named, service
from marketplace.api.validation import DOCUMENT_BYTES, LIMITS, validated
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import HITStatus

HIT_ID = "3FTID4TN8LYCH8GR30YO1PFCULVLY0"
HIT: dict[str, Any] = {
    "Title": "Say whether two phrases name the same thing",
    "Description": "Ten questions",
    "Reward": "0.10",
    "LifetimeInSeconds": 3600,
    "AssignmentDurationInSeconds": 600,
}
PATTERN = "Member must satisfy regular expression pattern: "


def operation(name: str) -> OperationModel:
    found = operation_named(f"MTurkRequesterServiceV20170117.{name}")
    assert found is not None
    return found


def violation(name: str, body: dict[str, Any]) -> str:
    """The name of the only violated rule, with its place."""
    with pytest.raises(FrontError) as caught:
        validated(operation(name), body)
    assert caught.value.kind == "ValidationException"
    assert not caught.value.capital
    assert caught.value.message.startswith("1 validation error detected: ")
    return caught.value.message.removeprefix("1 validation error detected: ")


def misfit(name: str, body: dict[str, Any]) -> str:
    with pytest.raises(FrontError) as caught:
        validated(operation(name), body)
    assert caught.value.kind == "SerializationException"
    assert caught.value.capital
    return caught.value.message


def test_good_parameters_come_out_as_they_went_in() -> None:
    requirement = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "In",
        "LocaleValues": [{"Country": "GB"}, {"Country": "US", "Subdivision": "NY"}],
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    body = {**HIT, "MaxAssignments": 3, "QualificationRequirements": [requirement]}
    assert validated(operation("CreateHIT"), body) == body


def test_unknown_members_and_nulls_are_left_out() -> None:
    body = {"HITId": HIT_ID, "Other": {"x": [1]}, "MaxResults": None}
    assert validated(operation("ListAssignmentsForHIT"), body) == {"HITId": HIT_ID}
    assert validated(operation("GetAccountBalance"), {"Anything": 1}) == {}


def test_every_violation_is_told_in_the_order_of_the_model() -> None:
    body = {"HITId": "bad id", "MaxResults": 500, "AssignmentStatuses": ["Approved", "Foo"]}
    with pytest.raises(FrontError) as caught:
        validated(operation("ListAssignmentsForHIT"), body)
    assert caught.value.message == (
        "3 validation errors detected: "
        f"Value 'bad id' at 'hITId' failed to satisfy constraint: {PATTERN}^[A-Z0-9]+$; "
        "Value '500' at 'maxResults' failed to satisfy constraint: "
        "Member must have value less than or equal to 100; "
        "Value 'Foo' at 'assignmentStatuses.2.member' failed to satisfy constraint: "
        "Member must satisfy enum value set: [Submitted, Approved, Rejected]"
    )


@pytest.mark.parametrize("body", [{}, {"RequesterFeedback": None}])
def test_a_missing_member(body: dict[str, Any]) -> None:
    assert violation("RejectAssignment", {"AssignmentId": HIT_ID, **body}) == (
        "Value null at 'requesterFeedback' failed to satisfy constraint: Member must not be null"
    )


def test_a_missing_member_inside() -> None:
    body = {**HIT, "QualificationRequirements": [{"QualificationTypeId": HIT_ID}]}
    assert violation("CreateHIT", body) == (
        "Value null at 'qualificationRequirements.1.member.comparator' "
        "failed to satisfy constraint: Member must not be null"
    )


@pytest.mark.parametrize("amount", ["0.055", ".5", "", "-1", "1,5", "1\n", "١"])
def test_what_is_no_amount(amount: str) -> None:
    assert violation("CreateHIT", {**HIT, "Reward": amount}) == (
        f"Value '{amount}' at 'reward' failed to satisfy constraint: "
        f"{PATTERN}^[0-9]+(\\.)?[0-9]{{0,2}}$"
    )


@pytest.mark.parametrize("amount", ["10000.01", "99999999999999999999"])
def test_an_amount_beyond_reason(amount: str) -> None:
    assert "less than or equal to 10000" in violation("CreateHIT", {**HIT, "Reward": amount})


@pytest.mark.parametrize("amount", ["5", "5.", "0.5", "0", "0.00", "10000.00"])
def test_amounts(amount: str) -> None:
    assert validated(operation("CreateHIT"), {**HIT, "Reward": amount})["Reward"] == amount


@pytest.mark.parametrize(
    ("name", "member", "good", "bad", "rule"),
    [
        ("CreateHIT", "Title", "x" * 128, "x" * 129, "length less than or equal to 128"),
        ("CreateHIT", "Title", "x", "", "length greater than or equal to 1"),
        ("CreateHIT", "Description", "é" * 2000, "x" * 2001, "length less than or equal to 2000"),
        ("CreateHIT", "Keywords", "x" * 1000, "x" * 1001, "length less than or equal to 1000"),
        ("CreateHIT", "RequesterAnnotation", "x" * 255, "x" * 256, "length less than or equal to"),
        ("CreateHIT", "LifetimeInSeconds", 30, 29, "value greater than or equal to 30"),
        ("CreateHIT", "LifetimeInSeconds", 31_536_000, 31_536_001, "value less than or equal to"),
        ("CreateHIT", "AssignmentDurationInSeconds", 30, 29, "value greater than or equal to 30"),
        ("CreateHIT", "AutoApprovalDelayInSeconds", 0, -1, "value greater than or equal to 0"),
        ("CreateHIT", "AutoApprovalDelayInSeconds", 2_592_000, 2_592_001, "value less than or"),
        ("CreateHIT", "MaxAssignments", 1, 0, "value greater than or equal to 1"),
        ("CreateHIT", "MaxAssignments", 10**9, 10**9 + 1, "value less than or equal to 1000000000"),
        # Bytes, not characters.
        ("CreateHIT", "Question", "é" * 32_767, "é" * 32_768, "length less than or equal to 65535"),
        ("CreateHIT", "UniqueRequestToken", "x" * 64, "x" * 65, "length less than or equal to 64"),
        ("ListHITs", "MaxResults", 100, 101, "value less than or equal to 100"),
        ("ListHITs", "MaxResults", 1, 0, "value greater than or equal to 1"),
        ("ListHITs", "NextToken", "x" * 255, "x" * 256, "length less than or equal to 255"),
    ],
)
def test_limits_on_both_sides(name: str, member: str, good: Any, bad: Any, rule: str) -> None:
    base = HIT if name == "CreateHIT" else {}
    assert validated(operation(name), {**base, member: good})[member] == good
    assert f"Member must have {rule}" in violation(name, {**base, member: bad})


def test_sizes_of_lists() -> None:
    requirement = {"QualificationTypeId": HIT_ID, "Comparator": "Exists"}
    body = {**HIT, "QualificationRequirements": [requirement] * 10}
    assert validated(operation("CreateHIT"), body) == body
    body["QualificationRequirements"] = [requirement] * 11
    assert "length less than or equal to 10" in violation("CreateHIT", body)
    message = {"Subject": "Hello", "MessageText": "Thanks", "WorkerIds": ["A1"] * 100}
    assert validated(operation("NotifyWorkers"), message) == message
    assert "length less" in violation("NotifyWorkers", message | {"WorkerIds": ["A1"] * 101})
    assert "length greater" in violation("NotifyWorkers", message | {"WorkerIds": []})


def test_every_limit_is_of_a_member_that_exists() -> None:
    names = {
        member
        for name in service().shape_names
        if isinstance(shape := service().shape_for(name), StructureShape)
        for member in shape.members
    }
    assert LIMITS.keys() <= names


def test_a_long_value_is_not_sent_back_whole() -> None:
    assert len(violation("CreateHIT", {**HIT, "Question": "x" * (DOCUMENT_BYTES + 1)})) < 500


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("60", "STRING_VALUE can not be converted to a Long"),
        (60.5, "DECIMAL_VALUE can not be converted to a Long"),
        (float("inf"), "DECIMAL_VALUE can not be converted to a Long"),
        (True, "TRUE_VALUE can not be converted to a Long"),
        ([60], "Start of list found where not expected"),
        ({"x": 60}, "Start of structure or map found where not expected."),
        (1 << 63, f"Numeric value ({1 << 63}) out of range of a Long"),
    ],
)
def test_wrong_types_of_numbers(value: object, message: str) -> None:
    assert misfit("CreateHIT", {**HIT, "LifetimeInSeconds": value}) == message


def test_other_wrong_types() -> None:
    assert misfit("GetHIT", {"HITId": 5}) == "NUMBER_VALUE can not be converted to a String"
    assert misfit("GetHIT", {"HITId": "\ud800"}).startswith("Half of a surrogate pair")
    many = {**HIT, "MaxAssignments": 1 << 31}
    assert misfit("CreateHIT", many) == f"Numeric value ({1 << 31}) out of range of an Integer"
    revert = {"HITId": HIT_ID, "Revert": "true"}
    assert misfit("UpdateHITReviewStatus", revert) == (
        "STRING_VALUE can not be converted to a Boolean"
    )
    body = {**HIT, "QualificationRequirements": {}}
    assert misfit("CreateHIT", body) == "Expected list or null"
    body = {**HIT, "QualificationRequirements": ["x"]}
    assert misfit("CreateHIT", body) == "Expected structure or null"


def test_whole_numbers_may_be_written_with_a_point() -> None:
    params = validated(operation("CreateHIT"), {**HIT, "LifetimeInSeconds": 60.0})
    assert params["LifetimeInSeconds"] == 60
    assert isinstance(params["LifetimeInSeconds"], int)


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x0b", "\x1f", "\ufffe"])
def test_control_characters_are_refused(character: str) -> None:
    body = {"AssignmentId": HIT_ID, "RequesterFeedback": f"no{character}"}
    with pytest.raises(RequestError) as caught:
        validated(operation("RejectAssignment"), body)
    assert caught.value.turk_error_code == "AWS.MechanicalTurk.InvalidParameterValue"
    assert str(caught.value) == (
        'The value "no\N{REPLACEMENT CHARACTER}" is not valid for the parameter RequesterFeedback.'
    )


def test_white_space_is_no_control_character() -> None:
    body = {"AssignmentId": HIT_ID, "RequesterFeedback": "a\tb\r\nc"}
    assert validated(operation("RejectAssignment"), body) == body


@pytest.mark.parametrize(
    ("given_time", "meant"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1420070400, datetime(2015, 1, 1, tzinfo=UTC)),
        (1420070400.25, datetime(2015, 1, 1, 0, 0, 0, 250_000, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2015-01-01T00:00:00Z", datetime(2015, 1, 1, tzinfo=UTC)),
        ("2015-01-01T02:00:00+02:00", datetime(2015, 1, 1, tzinfo=UTC)),
        ("2015-01-01T00:00:00", datetime(2015, 1, 1, tzinfo=UTC)),
    ],
)
def test_timestamps(given_time: object, meant: datetime) -> None:
    params = validated(
        operation("UpdateExpirationForHIT"), {"HITId": HIT_ID, "ExpireAt": given_time}
    )
    assert params["ExpireAt"] == meant
    assert params["ExpireAt"].tzinfo is UTC


@pytest.mark.parametrize("value", ["soon", True, 1e300, -1e300, 10**40, float("inf")])
def test_what_is_no_timestamp(value: object) -> None:
    body = {"HITId": HIT_ID, "ExpireAt": value}
    assert misfit("UpdateExpirationForHIT", body).endswith("can not be converted to a Timestamp")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(data=st.data(), name=st.sampled_from(sorted(service().operation_names)))
def test_nothing_but_the_three_errors_whatever_is_sent(data: st.DataObject, name: str) -> None:
    shape = operation(name).input_shape
    assert isinstance(shape, StructureShape)
    members = st.sampled_from(sorted(shape.members)) if shape.members else st.nothing()
    body = data.draw(st.dictionaries(members | st.text(max_size=3), json_values, max_size=6))
    try:
        params = validated(operation(name), body)
    except (FrontError, RequestError):
        return
    assert params.keys() <= shape.members.keys()
    assert set(shape.required_members) <= params.keys()


@given(time=st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)))
def test_times_reach_botocore(time: datetime) -> None:
    aware = time.replace(tzinfo=timezone(timedelta(hours=2)))
    out = written(operation("GetHIT"), {"HIT": {"HITId": HIT_ID, "CreationTime": aware}})
    reply = {"body": json.dumps(out).encode(), "headers": {}, "status_code": 200}
    parsed = create_parser("json").parse(reply, service().shape_for("GetHITResponse"))
    assert abs(parsed["HIT"]["CreationTime"] - aware) <= timedelta(milliseconds=1)


@given(time=st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)))
def test_times_come_from_botocore(time: datetime) -> None:
    aware = time.replace(tzinfo=timezone(timedelta(hours=2)), microsecond=0)
    expire = operation("UpdateExpirationForHIT")
    sent = create_serializer("json").serialize_to_request(
        {"HITId": HIT_ID, "ExpireAt": aware}, expire
    )
    assert validated(expire, json.loads(sent["body"]))["ExpireAt"] == aware


def test_results_are_written_without_what_is_absent() -> None:
    now = datetime(2026, 11, 16, 3, tzinfo=UTC)
    result = {"HIT": {"HITId": HIT_ID, "Keywords": None, "CreationTime": now}}
    seconds = 1_794_798_000
    assert written(operation("GetHIT"), result) == {
        "HIT": {"HITId": HIT_ID, "CreationTime": seconds}
    }
    result["HIT"]["HITStatus"] = HITStatus.REVIEWABLE
    result["HIT"]["CreationTime"] = now + timedelta(milliseconds=1500)
    out = written(operation("GetHIT"), result)
    assert out is not None
    assert out["HIT"]["HITStatus"] == "Reviewable"
    assert out["HIT"]["CreationTime"] == seconds + 1.5


def test_operations_without_a_result_have_none() -> None:
    assert written(operation("DeleteHIT"), {}) is None
    with pytest.raises(MisfitError, match="DeleteHIT has no result"):
        written(operation("DeleteHIT"), {"HITId": HIT_ID})


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"Hit": {}}, "no member Hit"),
        ({"HIT": {"Worker": "A1"}}, r"GetHIT\.HIT: HIT has no member Worker"),
        ({"HIT": {"Reward": 0.1}}, r"GetHIT\.HIT\.Reward: float in place of string"),
        ({"HIT": {"MaxAssignments": True}}, "bool in place of integer"),
        ({"HIT": {"MaxAssignments": "1"}}, "str in place of integer"),
        ({"HIT": {"HITStatus": "Done"}}, "HITStatus has no value 'Done'"),
        ({"HIT": {"CreationTime": 5}}, "int in place of timestamp"),
        ({"HIT": {"CreationTime": datetime(2026, 1, 1)}}, "without a zone"),
        ({"HIT": {"QualificationRequirements": {}}}, "dict in place of a list"),
        ({"HIT": {"QualificationRequirements": [5]}}, r"\[0\]: int in place of"),
        ({"HIT": []}, "list in place of HIT"),
    ],
)
def test_a_result_that_the_model_does_not_have(result: dict[str, Any], told: str) -> None:
    with pytest.raises(MisfitError, match=told):
        written(operation("GetHIT"), result)
