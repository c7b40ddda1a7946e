"""Reading and changing HITs through the API, over HTTP, with boto3."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F

from marketplace.actions.assignments import (
    assignment_approve,
    assignment_submit,
)
from marketplace.models import HIT, Assignment, Requester
from tests.marketplace.calls import operation, pages, refusal
from tests.marketplace.hits import (
    APPROVED,
    TYPE,
    UNKNOWN,
    accept,
    at_least,
    counters,
    create,
    get,
    qualification_type,
    submit,
)
from tests.marketplace.people import make_requester

# --- Reading HITs -----------------------------------------------------------------------------


@operation("GetHIT")
def test_counters_follow_the_assignments(mturk: Any) -> None:
    hit = create(mturk, MaxAssignments=2)
    first = accept(hit)
    assert counters(get(mturk, hit)) == (1, 1, 0)
    assignment_submit(assignment=first, answer="<QuestionFormAnswers/>")
    assert counters(get(mturk, hit)) == (0, 1, 0)
    assignment_approve(assignment=first)
    assert counters(get(mturk, hit)) == (0, 1, 1)
    second = accept(hit)
    assert get(mturk, hit)["HITStatus"] == "Unassignable"
    # Time runs out, and nothing has looked at it since.
    Assignment.objects.filter(pk=second.pk).update(
        deadline=F("accepted_at"), due_at=F("accepted_at")
    )
    assert (get(mturk, hit)["HITStatus"], counters(get(mturk, hit))) == ("Assignable", (0, 1, 1))
    HIT.objects.update(expires_at=F("created_at"))
    assert (get(mturk, hit)["HITStatus"], counters(get(mturk, hit))) == ("Reviewable", (0, 0, 1))


@operation("GetHIT", "HITDoesNotExist")
@operation("DeleteHIT", "HITDoesNotExist")
@operation("UpdateExpirationForHIT", "HITDoesNotExist")
@operation("CreateAdditionalAssignmentsForHIT", "HITDoesNotExist")
@operation("UpdateHITReviewStatus", "HITDoesNotExist")
@operation("UpdateHITTypeOfHIT", "HITDoesNotExist")
@operation("ListAssignmentsForHIT", "HITDoesNotExist")
@operation("ListBonusPayments", "HITDoesNotExist")
@operation("ListReviewPolicyResultsForHIT", "HITDoesNotExist")
def test_hits_of_others_do_not_exist(mturk: Any, stranger: Any) -> None:
    hit_type = mturk.create_hit_type(**TYPE)["HITTypeId"]
    for number in (create(stranger)["HITId"], UNKNOWN):
        for call, more in [
            (mturk.get_hit, {}),
            (mturk.delete_hit, {}),
            (mturk.update_expiration_for_hit, {"ExpireAt": 0}),
            (mturk.create_additional_assignments_for_hit, {"NumberOfAdditionalAssignments": 1}),
            (mturk.update_hit_review_status, {}),
            (mturk.update_hit_type_of_hit, {"HITTypeId": hit_type}),
            (mturk.list_assignments_for_hit, {}),
            (mturk.list_bonus_payments, {}),
            (mturk.list_review_policy_results_for_hit, {}),
        ]:
            code, message = refusal(call, HITId=number, **more)
            assert code == "HITDoesNotExist"
            assert message.startswith(f"Hit {number} does not exist. (")
    assert stranger.list_hits()["HITs"][0]["HITStatus"] == "Assignable"


@operation("ListHITs")
def test_hits_are_listed_newest_first_in_pages(mturk: Any, stranger: Any) -> None:
    assert mturk.list_hits()["HITs"] == []
    made = [create(mturk, RequesterAnnotation=str(n))["HITId"] for n in range(12)]
    create(stranger)
    found = pages(mturk.list_hits, "HITs", MaxResults=5)
    assert [len(page) for page in found] == [5, 5, 2]
    assert [hit["HITId"] for page in found for hit in page] == made[::-1]
    assert len(mturk.list_hits()["HITs"]) == 10
    # What is made while somebody reads shifts nothing.
    first = mturk.list_hits(MaxResults=5)
    create(mturk)
    second = mturk.list_hits(MaxResults=5, NextToken=first["NextToken"])
    assert second["HITs"][0]["HITId"] == made[6]
    listed = mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 4})
    assert len([hit for page in listed for hit in page["HITs"]]) == 13
    mturk.update_expiration_for_hit(HITId=made[0], ExpireAt=0)
    mturk.delete_hit(HITId=made[0])
    assert made[0] not in [h["HITId"] for page in pages(mturk.list_hits, "HITs") for h in page]


@operation("ListHITs", "InvalidParameterValue")
@operation("ListReviewableHITs", "InvalidParameterValue")
def test_tokens_are_good_for_their_listing_only(mturk: Any, stranger: Any) -> None:
    create(mturk)
    token = mturk.list_hits()["NextToken"]
    for call, bad in [
        (mturk.list_hits, "nonsense"),
        (mturk.list_hits, token[:-1] + ("A" if token[-1] != "A" else "B")),
        (mturk.list_reviewable_hits, token),
        (stranger.list_hits, token),
    ]:
        code, message = refusal(call, NextToken=bad)
        assert code == "InvalidParameterValue"
        assert "is not valid for the parameter NextToken." in message


@operation("ListReviewableHITs")
@operation("UpdateHITReviewStatus")
def test_reviewable_and_reviewing(mturk: Any) -> None:
    done, expired, open_one, at_work = (create(mturk, Title=t) for t in "abcd")
    submit(done)
    accept(at_work)
    # Expired by the clock; no sweeper has been round.
    late = HIT.objects.filter(hit_id__in=[expired["HITId"], at_work["HITId"]])
    late.update(expires_at=F("created_at"))
    ids = [hit["HITId"] for hit in mturk.list_reviewable_hits()["HITs"]]
    assert ids == [expired["HITId"], done["HITId"]]
    assert get(mturk, at_work)["HITStatus"] == "Unassignable"
    assert get(mturk, open_one)["HITStatus"] == "Assignable"

    mturk.update_hit_review_status(HITId=done["HITId"])
    assert get(mturk, done)["HITStatus"] == "Reviewing"
    assert [h["HITId"] for h in mturk.list_reviewable_hits()["HITs"]] == [expired["HITId"]]
    reviewing = mturk.list_reviewable_hits(Status="Reviewing")["HITs"]
    assert [h["HITId"] for h in reviewing] == [done["HITId"]]
    mturk.update_hit_review_status(HITId=done["HITId"], Revert=True)
    assert get(mturk, done)["HITStatus"] == "Reviewable"
    typed = mturk.list_reviewable_hits(HITTypeId=done["HITTypeId"])["HITs"]
    assert [h["HITId"] for h in typed] == [done["HITId"]]
    code, _ = refusal(mturk.list_reviewable_hits, HITTypeId=UNKNOWN)
    assert code == "InvalidParameterValue"


@operation("UpdateHITReviewStatus", "InvalidHITState")
def test_review_marks_fit_the_state(mturk: Any) -> None:
    hit = create(mturk)
    for revert, wanted in [(False, "Reviewable"), (True, "Reviewing")]:
        code, message = refusal(mturk.update_hit_review_status, HITId=hit["HITId"], Revert=revert)
        assert code == "InvalidHITState"
        assert message.startswith(
            "This HIT is currently in the state 'Assignable'.  "
            f"This operation can be called with a status of: {wanted}"
        )


@operation("ListHITsForQualificationType")
@operation("ListHITsForQualificationType", "QualificationTypeDoesNotExist")
def test_hits_by_qualification_type(mturk: Any, stranger: Any) -> None:
    careful, quick = qualification_type(mturk), qualification_type(mturk, "quick")
    wanted = create(mturk, QualificationRequirements=[at_least(1, careful), at_least(3)])
    create(mturk, QualificationRequirements=[at_least(1, quick)])
    create(stranger, QualificationRequirements=[at_least(1, careful)])
    for type_id in (careful, APPROVED):
        found = mturk.list_hits_for_qualification_type(QualificationTypeId=type_id)
        assert [hit["HITId"] for hit in found["HITs"]] == [wanted["HITId"]]
    code, _ = refusal(mturk.list_hits_for_qualification_type, QualificationTypeId=UNKNOWN)
    assert code == "QualificationTypeDoesNotExist"


@operation("ListReviewPolicyResultsForHIT")
def test_there_are_no_review_policy_results(mturk: Any) -> None:
    hit = create(mturk)
    answer = mturk.list_review_policy_results_for_hit(HITId=hit["HITId"])
    assert answer["HITId"] == hit["HITId"]
    assert answer["HITReviewReport"] == {"ReviewResults": [], "ReviewActions": []}
    assert answer["AssignmentReviewReport"] == {"ReviewResults": [], "ReviewActions": []}
    assert "NextToken" not in answer


# --- Changing HITs ----------------------------------------------------------------------------


@operation("UpdateExpirationForHIT")
@operation("DeleteHIT")
@operation("DeleteHIT", "InvalidHITState")
def test_expire_and_delete(mturk: Any) -> None:
    hit = create(mturk)
    code, message = refusal(mturk.delete_hit, HITId=hit["HITId"])
    assert code == "InvalidHITState"
    assert message.startswith(
        "This HIT is currently in the state 'Assignable'.  This operation can be called with a "
        "status of: Reviewing, Reviewable ("
    )
    for when in (0, datetime(2015, 1, 1), datetime.now(UTC) - timedelta(hours=1)):
        answer = mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=when)
        assert set(answer) == {"ResponseMetadata"}
        assert get(mturk, hit)["HITStatus"] == "Reviewable"
    assert mturk.get_account_balance()["AvailableBalance"] == "1000.00"
    assert set(mturk.delete_hit(HITId=hit["HITId"])) == {"ResponseMetadata"}
    assert get(mturk, hit)["HITStatus"] == "Disposed"
    assert mturk.list_hits()["HITs"] == []
    code, message = refusal(mturk.delete_hit, HITId=hit["HITId"])
    assert code == "InvalidHITState"
    assert "currently in the state 'Disposed'" in message


@operation("DeleteHIT", "InvalidHITState")
def test_undecided_work_keeps_a_hit(mturk: Any) -> None:
    hit = create(mturk)
    assignment = submit(hit)
    assert get(mturk, hit)["HITStatus"] == "Reviewable"
    assert refusal(mturk.delete_hit, HITId=hit["HITId"])[0] == "InvalidHITState"
    mturk.reject_assignment(AssignmentId=assignment.assignment_id, RequesterFeedback="Empty.")
    mturk.delete_hit(HITId=hit["HITId"])


@operation("UpdateExpirationForHIT")
@operation("UpdateExpirationForHIT", "InsufficientFunds", "InvalidHITState")
def test_more_time_opens_a_hit_again(client_for: Callable[[Requester], Any]) -> None:
    mturk = client_for(make_requester(cents=50))
    hit = create(mturk)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
    again = get(mturk, hit)
    assert (again["HITStatus"], again["Expiration"]) == ("Assignable", later)
    assert mturk.get_account_balance()["AvailableBalance"] == "0.00"

    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    create(mturk, Reward="0.10")
    code, _ = refusal(mturk.update_expiration_for_hit, HITId=hit["HITId"], ExpireAt=later)
    assert code == "InsufficientFunds"
    assert get(mturk, hit)["HITStatus"] == "Reviewable"
    mturk.delete_hit(HITId=hit["HITId"])
    code, _ = refusal(mturk.update_expiration_for_hit, HITId=hit["HITId"], ExpireAt=later)
    assert code == "InvalidHITState"


@operation("CreateAdditionalAssignmentsForHIT")
@operation(
    "CreateAdditionalAssignmentsForHIT",
    "InvalidMaximumAssignmentsIncrease",
    "InsufficientFunds",
    "DuplicateRequest",
    "InvalidHITState",
    "InvalidParameterValue",
)
def test_more_assignments(client_for: Callable[[Requester], Any]) -> None:
    mturk = client_for(make_requester(cents=1000))
    more = mturk.create_additional_assignments_for_hit
    hit = create(mturk)
    number = hit["HITId"]
    submit(hit)
    assert get(mturk, hit)["HITStatus"] == "Reviewable"
    answer = more(HITId=number, NumberOfAdditionalAssignments=2, UniqueRequestToken="t")
    assert set(answer) == {"ResponseMetadata"}
    assert get(mturk, hit)["HITStatus"] == "Assignable"
    code, message = refusal(
        more, HITId=number, NumberOfAdditionalAssignments=2, UniqueRequestToken="t"
    )
    assert code == "DuplicateRequest"
    assert message.startswith('The idempotency token "t" has already been processed. (')
    assert get(mturk, hit)["MaxAssignments"] == 3
    code, _ = refusal(more, HITId=number, NumberOfAdditionalAssignments=7)
    assert code == "InvalidMaximumAssignmentsIncrease"
    more(HITId=number, NumberOfAdditionalAssignments=6)
    assert mturk.get_account_balance()["AvailableBalance"] == "5.50"

    large = create(mturk, MaxAssignments=10, Title="ten")
    code, _ = refusal(more, HITId=large["HITId"], NumberOfAdditionalAssignments=2)
    assert code == "InsufficientFunds"
    code, _ = refusal(more, HITId=large["HITId"], NumberOfAdditionalAssignments=1_000_000_000)
    assert code == "InvalidParameterValue"
    mturk.update_expiration_for_hit(HITId=large["HITId"], ExpireAt=0)
    mturk.delete_hit(HITId=large["HITId"])
    code, _ = refusal(more, HITId=large["HITId"], NumberOfAdditionalAssignments=1)
    assert code == "InvalidHITState"


@operation("UpdateHITTypeOfHIT")
@operation("UpdateHITTypeOfHIT", "InvalidParameterValue", "InvalidHITState", "InsufficientFunds")
def test_another_type_for_a_hit(client_for: Callable[[Requester], Any]) -> None:
    mturk = client_for(make_requester(cents=100))
    change = mturk.update_hit_type_of_hit
    hit = create(mturk)
    better = mturk.create_hit_type(**(TYPE | {"Title": "Better paid", "Reward": "0.80"}))
    dear = mturk.create_hit_type(**(TYPE | {"Reward": "1.01"}))
    assert set(change(HITId=hit["HITId"], HITTypeId=better["HITTypeId"])) == {"ResponseMetadata"}
    changed = get(mturk, hit)
    assert (changed["Title"], changed["Reward"]) == ("Better paid", "0.80")
    assert changed["HITTypeId"] == better["HITTypeId"]
    assert mturk.get_account_balance()["AvailableBalance"] == "0.20"
    code, _ = refusal(change, HITId=hit["HITId"], HITTypeId=UNKNOWN)
    assert code == "InvalidParameterValue"
    code, _ = refusal(change, HITId=hit["HITId"], HITTypeId=dear["HITTypeId"])
    assert code == "InsufficientFunds"
    accept(hit)
    code, _ = refusal(change, HITId=hit["HITId"], HITTypeId=hit["HITTypeId"])
    assert code == "InvalidHITState"
