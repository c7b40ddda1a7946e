"""Qualification types, qualifications and requests through the API, over HTTP, with boto3."""

from collections.abc import Callable
from typing import Any

import pytest

from marketplace.actions.assignments import WorkRefusedError
from marketplace.actions.requests import qualification_request, request_refusal
from marketplace.models import QualificationRequest, QualificationType, Requester, Worker
from tests.marketplace.calls import operation, pages, refusal
from tests.marketplace.hits import (
    APPROVED,
    UNKNOWN,
    accept,
    at_least,
    create,
    qualification_type,
)
from tests.marketplace.people import make_requester, make_worker
from tests.marketplace.qualification_tests import KEY, TEST

NAMED: dict[str, Any] = {
    "Name": "Draws tight boxes",
    "Description": "Has shown that they can",
    "QualificationTypeStatus": "Active",
}


def row(type_id: str) -> QualificationType:
    return QualificationType.objects.get(qualification_type_id=type_id)


@operation("CreateQualificationType")
@operation("GetQualificationType")
def test_a_type_with_a_test(mturk: Any, stranger: Any) -> None:
    given = NAMED | {
        "Keywords": "boxes, drawing",
        "Test": TEST,
        "AnswerKey": KEY,
        "TestDurationInSeconds": 300,
        "RetryDelayInSeconds": 60,
    }
    made = mturk.create_qualification_type(**given)["QualificationType"]
    for name, value in given.items():
        assert made[name] == value
    assert (made["IsRequestable"], made["AutoGranted"]) == (True, False)
    assert "AutoGrantedValue" not in made
    number = made["QualificationTypeId"]
    assert mturk.get_qualification_type(QualificationTypeId=number)["QualificationType"] == made
    # Others see the type, but neither its questions nor their answers.
    theirs = stranger.get_qualification_type(QualificationTypeId=number)["QualificationType"]
    assert theirs == {k: v for k, v in made.items() if k not in ("Test", "AnswerKey")}
    system = mturk.get_qualification_type(QualificationTypeId=APPROVED)["QualificationType"]
    assert (system["IsRequestable"], system["QualificationTypeStatus"]) == (False, "Active")


@operation("CreateQualificationType", "QualificationTypeAlreadyExists")
def test_names_are_unique_to_a_requester(mturk: Any, stranger: Any) -> None:
    made = mturk.create_qualification_type(**NAMED)["QualificationType"]
    code, message = refusal(mturk.create_qualification_type, **NAMED)
    assert code == "QualificationTypeAlreadyExists"
    assert message.startswith("You have already created a QualificationType with this name. A ")
    stranger.create_qualification_type(**NAMED)
    mturk.delete_qualification_type(QualificationTypeId=made["QualificationTypeId"])
    mturk.create_qualification_type(**NAMED)


@operation("CreateQualificationType", "InvalidParameterValue", "XMLParseError")
@operation("UpdateQualificationType", "InvalidParameterValue", "XMLParseError")
def test_tests_and_grants_must_fit_together(mturk: Any) -> None:
    timed: dict[str, Any] = {"Test": TEST, "TestDurationInSeconds": 300}
    broken = timed | {"Test": TEST.replace("</Question>", "")}
    plain = qualification_type(mturk, "plain")
    tested = qualification_type(mturk, "tested", **timed)
    update = mturk.update_qualification_type
    misfits: list[dict[str, Any]] = [
        {"Test": TEST},
        {"AnswerKey": KEY},
        {"TestDurationInSeconds": 300},
        timed | {"AutoGranted": True},
    ]
    for wrong in misfits:
        code, _ = refusal(mturk.create_qualification_type, **NAMED, **wrong)
        assert code == "InvalidParameterValue", wrong
        assert refusal(update, QualificationTypeId=plain, **wrong)[0] == "InvalidParameterValue"
    code, _ = refusal(update, QualificationTypeId=tested, AutoGranted=True)
    assert code == "InvalidParameterValue"
    for wrong in [broken, timed | {"AnswerKey": "<AnswerKey/>"}]:
        assert refusal(mturk.create_qualification_type, **NAMED, **wrong)[0] == "XMLParseError"
        assert refusal(update, QualificationTypeId=plain, **wrong)[0] == "XMLParseError"
    assert QualificationType.objects.count() == 2
    assert not row(plain).test


@operation("CreateQualificationType", "XHTMLParseError")
@operation("UpdateQualificationType", "XHTMLParseError")
def test_formatted_content_of_tests_is_checked(mturk: Any) -> None:
    plain = qualification_type(mturk, "plain")
    test = TEST.replace(
        "<Text>Which?</Text>", "<FormattedContent><![CDATA[<div>Which?</div>]]></FormattedContent>"
    )
    assert test != TEST
    wrong = {"Test": test, "TestDurationInSeconds": 60}
    assert refusal(mturk.create_qualification_type, **NAMED, **wrong)[0] == "XHTMLParseError"
    code, _ = refusal(mturk.update_qualification_type, QualificationTypeId=plain, **wrong)
    assert code == "XHTMLParseError"


@operation("UpdateQualificationType")
def test_what_is_given_changes_and_the_rest_stays(mturk: Any) -> None:
    number = qualification_type(
        mturk, Test=TEST, AnswerKey=KEY, TestDurationInSeconds=300, RetryDelayInSeconds=5
    )

    def update(**given: Any) -> dict[str, Any]:
        answer = mturk.update_qualification_type(QualificationTypeId=number, **given)
        changed: dict[str, Any] = answer["QualificationType"]
        assert (
            changed == mturk.get_qualification_type(QualificationTypeId=number)["QualificationType"]
        )
        return changed

    changed = update(Description="new", QualificationTypeStatus="Inactive")
    assert (changed["Description"], changed["QualificationTypeStatus"]) == ("new", "Inactive")
    assert (changed["Test"], changed["AnswerKey"]) == (TEST, KEY)
    assert changed["RetryDelayInSeconds"] == 5
    # A new test without a key is one without a key.
    changed = update(Test=TEST, TestDurationInSeconds=60, RetryDelayInSeconds=9)
    assert (changed["TestDurationInSeconds"], changed["RetryDelayInSeconds"]) == (60, 9)
    assert "AnswerKey" not in changed

    number = qualification_type(mturk, "given to all who ask", AutoGranted=True)
    assert update()["AutoGrantedValue"] == 1
    assert update(AutoGrantedValue=7)["AutoGrantedValue"] == 7


@operation("DeleteQualificationType")
@operation("DeleteQualificationType", "InvalidQualificationTypeState")
@operation("UpdateQualificationType", "InvalidQualificationTypeState")
@operation("GetQualificationType", "InvalidQualificationTypeState")
@operation("AssociateQualificationWithWorker", "InvalidQualificationTypeState")
def test_the_end_of_a_type(mturk: Any, worker: Worker) -> None:
    number = qualification_type(mturk)
    mturk.associate_qualification_with_worker(
        QualificationTypeId=number, WorkerId=worker.worker_id, IntegerValue=4
    )
    asked = qualification_request(qualification_type=row(number), worker=make_worker())
    assert set(mturk.delete_qualification_type(QualificationTypeId=number)) == {"ResponseMetadata"}
    for call, more in [
        (mturk.delete_qualification_type, {}),
        (mturk.update_qualification_type, {"Description": "d"}),
        (mturk.get_qualification_type, {}),
        (mturk.associate_qualification_with_worker, {"WorkerId": worker.worker_id}),
    ]:
        code, message = refusal(call, QualificationTypeId=number, **more)
        assert code == "InvalidQualificationTypeState"
        assert message.startswith(
            "This operation can be called with a status of: Active,Inactive ("
        )
    asked.request.refresh_from_db()
    assert asked.request.status == QualificationRequest.REJECTED
    score = mturk.get_qualification_score(QualificationTypeId=number, WorkerId=worker.worker_id)
    assert score["Qualification"]["IntegerValue"] == 4


@operation("GetQualificationType", "QualificationTypeDoesNotExist")
@operation("UpdateQualificationType", "QualificationTypeDoesNotExist", "PermissionDeniedException")
@operation("DeleteQualificationType", "QualificationTypeDoesNotExist", "PermissionDeniedException")
@operation(
    "AssociateQualificationWithWorker",
    "QualificationTypeDoesNotExist",
    "PermissionDeniedException",
)
@operation(
    "DisassociateQualificationFromWorker",
    "QualificationTypeDoesNotExist",
    "PermissionDeniedException",
)
@operation(
    "ListWorkersWithQualificationType",
    "QualificationTypeDoesNotExist",
    "PermissionDeniedException",
)
@operation(
    "ListQualificationRequests", "QualificationTypeDoesNotExist", "PermissionDeniedException"
)
def test_types_of_others(mturk: Any, stranger: Any, worker: Worker) -> None:
    theirs = qualification_type(stranger)
    hidden = qualification_type(stranger, "hidden", QualificationTypeStatus="Inactive")
    own = [
        (mturk.update_qualification_type, {"Description": "mine now"}),
        (mturk.delete_qualification_type, {}),
        (mturk.associate_qualification_with_worker, {"WorkerId": worker.worker_id}),
        (mturk.disassociate_qualification_from_worker, {"WorkerId": worker.worker_id}),
        (mturk.list_workers_with_qualification_type, {}),
        (mturk.list_qualification_requests, {}),
    ]
    for call, more in own:
        for listed in (theirs, APPROVED):
            code, message = refusal(call, QualificationTypeId=listed, **more)
            assert code == "PermissionDeniedException"
            assert message.startswith("This user is not authorized to perform the requested")
    for call, more in [*own, (mturk.get_qualification_type, {})]:
        for unlisted in (hidden, UNKNOWN):
            code, message = refusal(call, QualificationTypeId=unlisted, **more)
            assert code == "QualificationTypeDoesNotExist"
            assert message.startswith(f"QualificationType {unlisted} does not exist. (")
    assert row(theirs).description == "d"


@operation("ListQualificationTypes")
def test_types_are_found(mturk: Any, stranger: Any) -> None:
    def found(**params: Any) -> list[str]:
        listed = pages(mturk.list_qualification_types, "QualificationTypes", **params)
        return [one["Name"] for page in listed for one in page]

    qualification_type(mturk, "Draws tight boxes", Keywords="photo, Quick")
    qualification_type(mturk, "asleep", QualificationTypeStatus="Inactive")
    gone = qualification_type(mturk, "gone")
    mturk.delete_qualification_type(QualificationTypeId=gone)
    qualification_type(stranger, "Reads quickly")
    qualification_type(stranger, "hidden", QualificationTypeStatus="Inactive")
    everything = found(MustBeRequestable=False, MaxResults=3)
    assert everything[4:] == ["Draws tight boxes", "asleep", "Reads quickly"]
    assert everything == found(MustBeRequestable=False)
    assert len(everything) == 7
    assert found(MustBeRequestable=True) == ["Draws tight boxes", "Reads quickly"]
    mine = {"MustBeRequestable": False, "MustBeOwnedByCaller": True}
    assert found(**mine) == ["Draws tight boxes", "asleep"]
    assert found(**mine, Query="DRAWS TIGHT BOXES") == ["Draws tight boxes"]
    assert found(MustBeRequestable=True, Query="quick") == ["Draws tight boxes", "Reads quickly"]
    assert found(MustBeRequestable=True, Query="reads boxes") == []
    assert found(MustBeRequestable=False, Query="percent approved") == [everything[1]]


@operation("ListQualificationTypes", "InvalidParameterValue")
@operation("ListWorkersWithQualificationType", "InvalidParameterValue")
@operation("ListQualificationRequests", "InvalidParameterValue")
def test_tokens_of_other_listings_are_refused(mturk: Any) -> None:
    number = qualification_type(mturk)
    token = mturk.list_qualification_types(MustBeRequestable=True)["NextToken"]
    listings: list[tuple[Any, dict[str, Any]]] = [
        (mturk.list_qualification_types, {"MustBeRequestable": False}),
        (mturk.list_workers_with_qualification_type, {"QualificationTypeId": number}),
        (mturk.list_qualification_requests, {}),
    ]
    for call, params in listings:
        assert refusal(call, NextToken=token, **params)[0] == "InvalidParameterValue"


@operation("AssociateQualificationWithWorker")
@operation("GetQualificationScore")
@operation("DisassociateQualificationFromWorker")
@operation("ListWorkersWithQualificationType")
@operation("GetQualificationScore", "InvalidQualificationState")
@operation("DisassociateQualificationFromWorker", "InvalidQualificationState")
def test_given_changed_and_taken_back(mturk: Any, worker: Worker) -> None:
    number = qualification_type(mturk)
    both = {"QualificationTypeId": number, "WorkerId": worker.worker_id}
    hit = create(mturk, QualificationRequirements=[at_least(50, number)])
    answer = mturk.associate_qualification_with_worker(**both)
    assert set(answer) == {"ResponseMetadata"}
    score = mturk.get_qualification_score(**both)["Qualification"]
    assert (score["IntegerValue"], score["Status"]) == (1, "Granted")
    assert score["GrantTime"]
    with pytest.raises(WorkRefusedError):
        accept(hit, worker)
    mturk.associate_qualification_with_worker(**both, IntegerValue=50, SendNotification=False)
    assert mturk.get_qualification_score(**both)["Qualification"]["IntegerValue"] == 50
    accept(hit, worker)
    # One message, for the first; the second was asked to be quiet.
    assert [one.subject for one in worker.messages.all()] == ["Qualification: careful"]

    answer = mturk.disassociate_qualification_from_worker(**both, Reason="")
    assert set(answer) == {"ResponseMetadata"}
    for call in (mturk.get_qualification_score, mturk.disassociate_qualification_from_worker):
        code, message = refusal(call, **both)
        assert code == "InvalidQualificationState"
        assert message.startswith("This operation can be called with a status of: Granted (")

    def listed(**params: Any) -> list[tuple[str, int, str]]:
        found = pages(
            mturk.list_workers_with_qualification_type,
            "Qualifications",
            QualificationTypeId=number,
            MaxResults=1,
            **params,
        )
        return [(q["WorkerId"], q["IntegerValue"], q["Status"]) for page in found for q in page]

    others = [make_worker().worker_id for _ in range(2)]
    for value, other in enumerate(others):
        mturk.associate_qualification_with_worker(
            QualificationTypeId=number, WorkerId=other, IntegerValue=value
        )
    assert listed() == [(others[0], 0, "Granted"), (others[1], 1, "Granted")]
    assert listed(Status="Revoked") == [(worker.worker_id, 50, "Revoked")]


@operation("GetQualificationScore", "QualificationDoesNotExist")
@operation("DisassociateQualificationFromWorker", "QualificationDoesNotExist")
@operation("DisassociateQualificationFromWorker", "WorkerDoesNotExist")
@operation("AssociateQualificationWithWorker", "WorkerDoesNotExist")
@operation("AssociateQualificationWithWorker", "InvalidQualificationTypeState")
def test_what_a_worker_does_not_have(mturk: Any, stranger: Any, worker: Worker) -> None:
    number, theirs = qualification_type(mturk), qualification_type(stranger)
    stranger.associate_qualification_with_worker(
        QualificationTypeId=theirs, WorkerId=worker.worker_id
    )
    for type_id, worker_id in [
        (number, worker.worker_id),
        (theirs, worker.worker_id),
        (UNKNOWN, worker.worker_id),
        (APPROVED, worker.worker_id),
        (number, "ANOBODY"),
    ]:
        code, message = refusal(
            mturk.get_qualification_score, QualificationTypeId=type_id, WorkerId=worker_id
        )
        assert code == "QualificationDoesNotExist"
        assert message.startswith("You requested a Qualification that does not exist. (")
    take = mturk.disassociate_qualification_from_worker
    give = mturk.associate_qualification_with_worker
    code, _ = refusal(take, QualificationTypeId=number, WorkerId=worker.worker_id)
    assert code == "QualificationDoesNotExist"
    for call in (take, give):
        code, message = refusal(call, QualificationTypeId=number, WorkerId="ANOBODY")
        assert code == "WorkerDoesNotExist"
        assert 'The value "ANOBODY" is not valid for the parameter WorkerId.' in message
    mturk.update_qualification_type(QualificationTypeId=number, QualificationTypeStatus="Inactive")
    code, _ = refusal(give, QualificationTypeId=number, WorkerId=worker.worker_id)
    assert code == "InvalidQualificationTypeState"


@operation("ListQualificationRequests")
@operation("AcceptQualificationRequest")
@operation("RejectQualificationRequest")
@operation("AcceptQualificationRequest", "InvalidQualificationRequestState")
@operation("RejectQualificationRequest", "InvalidQualificationRequestState")
def test_requests_are_decided_once(mturk: Any) -> None:
    number, other = qualification_type(mturk), qualification_type(mturk, "other")
    workers = [make_worker() for _ in range(3)]
    for worker in workers:
        outcome = qualification_request(qualification_type=row(number), worker=worker)
        assert not outcome.is_granted
    qualification_request(qualification_type=row(other), worker=workers[0])
    found = pages(
        mturk.list_qualification_requests,
        "QualificationRequests",
        QualificationTypeId=number,
        MaxResults=2,
    )
    listed = [one for page in found for one in page]
    assert [one["WorkerId"] for one in listed] == [worker.worker_id for worker in workers]
    assert all(one["QualificationTypeId"] == number and one["SubmitTime"] for one in listed)
    assert not {"Test", "Answer"} & set(listed[0])
    ids = [one["QualificationRequestId"] for one in listed]
    assert mturk.list_qualification_requests()["NumResults"] == 4

    accept_it, reject_it = mturk.accept_qualification_request, mturk.reject_qualification_request
    assert set(accept_it(QualificationRequestId=ids[0])) == {"ResponseMetadata"}
    accept_it(QualificationRequestId=ids[1], IntegerValue=70)
    answer = reject_it(QualificationRequestId=ids[2], Reason="Not yet.")
    assert set(answer) == {"ResponseMetadata"}
    for worker, value in [(workers[0], 1), (workers[1], 70)]:
        score = mturk.get_qualification_score(QualificationTypeId=number, WorkerId=worker.worker_id)
        assert score["Qualification"]["IntegerValue"] == value
    refused = QualificationRequest.objects.get(request_id=ids[2])
    assert (refused.status, refused.reason) == (QualificationRequest.REJECTED, "Not yet.")
    for decided in ids:
        for call in (accept_it, reject_it):
            code, message = refusal(call, QualificationRequestId=decided)
            assert code == "InvalidQualificationRequestState"
            assert message.startswith("This operation can be called with a status of: Submitted (")
    left = mturk.list_qualification_requests(QualificationTypeId=number)
    assert left["QualificationRequests"] == []
    assert request_refusal(qualification_type=row(number), worker=workers[2])


@operation("AcceptQualificationRequest", "QualificationRequestDoesNotExist")
@operation("RejectQualificationRequest", "QualificationRequestDoesNotExist")
def test_requests_to_others_do_not_exist(
    mturk: Any, client_for: Callable[[Requester], Any], worker: Worker
) -> None:
    stranger = client_for(make_requester())
    theirs = qualification_type(stranger)
    asked = qualification_request(qualification_type=row(theirs), worker=worker).request
    for number in (asked.request_id, "no such request"):
        for call in (mturk.accept_qualification_request, mturk.reject_qualification_request):
            code, message = refusal(call, QualificationRequestId=number)
            assert code == "QualificationRequestDoesNotExist"
            assert message.startswith(f"QualificationRequest {number} does not exist. (")
    assert mturk.list_qualification_requests()["QualificationRequests"] == []
    asked.refresh_from_db()
    assert asked.status == QualificationRequest.PENDING
