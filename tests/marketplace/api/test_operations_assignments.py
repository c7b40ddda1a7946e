"""Assignments and bonuses through the API, over HTTP, with boto3."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.test.utils import override_settings

from marketplace.actions.assignments import assignment_return, assignment_submit
from marketplace.models import Account, AccountKind, Assignment, Requester, Worker
from marketplace.rules.questions import answers_xml
from tests.marketplace.calls import operation, pages, refusal
from tests.marketplace.hits import UNKNOWN, accept, create, submit
from tests.marketplace.people import make_requester, make_worker


def earnings(worker: Worker) -> int:
    account = Account.objects.filter(kind=AccountKind.EARNINGS, worker=worker).first()
    return account.balance if account else 0


@operation("GetAssignment")
def test_a_submitted_assignment_is_shown(mturk: Any, worker: Worker) -> None:
    hit = create(mturk)
    assignment = accept(hit, worker)
    answer = answers_xml([("colour", "red & blue <b>")])
    assignment_submit(assignment=assignment, answer=answer)
    found = mturk.get_assignment(AssignmentId=assignment.assignment_id)
    shown = found["Assignment"]
    assert shown["AssignmentStatus"] == "Submitted"
    assert (shown["WorkerId"], shown["HITId"]) == (worker.worker_id, hit["HITId"])
    assert shown["Answer"] == answer
    assert shown["AutoApprovalTime"] - shown["SubmitTime"] == timedelta(seconds=3600)
    assert shown["Deadline"] - shown["AcceptTime"] == timedelta(seconds=600)
    assert not {"ApprovalTime", "RejectionTime", "RequesterFeedback"} & set(shown)
    assert (found["HIT"]["HITId"], found["HIT"]["HITStatus"]) == (hit["HITId"], "Reviewable")


@operation("GetAssignment", "InvalidAssignmentState")
@operation("ApproveAssignment", "InvalidAssignmentState")
@operation("RejectAssignment", "InvalidAssignmentState")
@operation("SendBonus", "AssignmentDoesNotExist")
def test_what_is_not_submitted_cannot_be_read_or_decided(mturk: Any, worker: Worker) -> None:
    assignment = accept(create(mturk), worker)
    number = assignment.assignment_id
    for returned in (False, True):
        if returned:
            assignment_return(assignment=assignment)
        code, message = refusal(mturk.get_assignment, AssignmentId=number)
        assert code == "InvalidAssignmentState"
        assert message.startswith(
            "This operation can be called with a status of: Reviewable,Approved,Rejected ("
        )
        for call, more in [
            (mturk.approve_assignment, {}),
            (mturk.reject_assignment, {"RequesterFeedback": "no"}),
        ]:
            code, message = refusal(call, AssignmentId=number, **more)
            assert code == "InvalidAssignmentState"
            assert message.startswith("This operation can be called with a status of: null (")
        bonus = {"WorkerId": worker.worker_id, "BonusAmount": "1.00", "Reason": "r"}
        code, message = refusal(mturk.send_bonus, AssignmentId=number, **bonus)
        assert code == "AssignmentDoesNotExist"
        assert message.startswith(f"Assignment {number} does not exist. (")


@operation("GetAssignment", "AssignmentDoesNotExist")
@operation("ApproveAssignment", "AssignmentDoesNotExist")
@operation("RejectAssignment", "AssignmentDoesNotExist")
@operation("SendBonus", "AssignmentDoesNotExist")
@operation("ListBonusPayments", "AssignmentDoesNotExist")
@operation("GetFileUploadURL", "AssignmentDoesNotExist")
def test_assignments_of_others_do_not_exist(mturk: Any, stranger: Any, worker: Worker) -> None:
    theirs = submit(create(stranger), worker).assignment_id
    for number in (theirs, UNKNOWN):
        bonus = {"WorkerId": worker.worker_id, "BonusAmount": "1", "Reason": "r"}
        for call, more in [
            (mturk.get_assignment, {}),
            (mturk.approve_assignment, {}),
            (mturk.reject_assignment, {"RequesterFeedback": "no"}),
            (mturk.send_bonus, bonus),
            (mturk.list_bonus_payments, {}),
            (mturk.get_file_upload_url, {"QuestionIdentifier": "q"}),
        ]:
            code, message = refusal(call, AssignmentId=number, **more)
            assert code == "AssignmentDoesNotExist"
            assert message.startswith(f"Assignment {number} does not exist. (")
    assert Assignment.objects.get(assignment_id=theirs).status == "Submitted"


@operation("ListAssignmentsForHIT")
def test_assignments_are_listed_by_submission(mturk: Any) -> None:
    hit = create(mturk, MaxAssignments=7)
    number = hit["HITId"]
    assert mturk.list_assignments_for_hit(HITId=number)["Assignments"] == []
    open_ones = [accept(hit) for _ in range(6)]
    for assignment in open_ones[:0:-1]:
        assignment_submit(assignment=assignment, answer="<QuestionFormAnswers/>")
    ids = [one.assignment_id for one in open_ones[:0:-1]]
    mturk.approve_assignment(AssignmentId=ids[0])
    mturk.reject_assignment(AssignmentId=ids[1], RequesterFeedback="Empty.")
    found = pages(mturk.list_assignments_for_hit, "Assignments", HITId=number, MaxResults=2)
    assert [[one["AssignmentId"] for one in page] for page in found] == [
        ids[:2],
        ids[2:4],
        ids[4:],
    ]
    for statuses, wanted in [
        (["Submitted"], ids[2:]),
        (["Approved"], ids[:1]),
        (["Rejected", "Approved"], ids[:2]),
    ]:
        listed = mturk.list_assignments_for_hit(HITId=number, AssignmentStatuses=statuses)
        assert [one["AssignmentId"] for one in listed["Assignments"]] == wanted


@operation("ApproveAssignment")
@operation("ApproveAssignment", "InvalidAssignmentState")
@operation("RejectAssignment", "InvalidAssignmentState")
def test_approved_once_and_paid_once(mturk: Any, worker: Worker) -> None:
    number = submit(create(mturk), worker).assignment_id
    answer = mturk.approve_assignment(AssignmentId=number, RequesterFeedback="Thank you.")
    assert set(answer) == {"ResponseMetadata"}
    assert earnings(worker) == 50
    shown = mturk.get_assignment(AssignmentId=number)["Assignment"]
    assert (shown["AssignmentStatus"], shown["RequesterFeedback"]) == ("Approved", "Thank you.")
    assert shown["ApprovalTime"] >= shown["SubmitTime"]
    decisions: list[tuple[Any, dict[str, Any]]] = [
        (mturk.approve_assignment, {}),
        (mturk.approve_assignment, {"OverrideRejection": True}),
        (mturk.reject_assignment, {"RequesterFeedback": "no"}),
    ]
    for call, more in decisions:
        code, message = refusal(call, AssignmentId=number, **more)
        assert code == "InvalidAssignmentState"
        assert message.startswith("This operation can be called with a status of: Submitted (")
    assert earnings(worker) == 50


@operation("RejectAssignment")
@operation("ApproveAssignment")
def test_rejected_and_then_approved_after_all(mturk: Any, worker: Worker) -> None:
    hit = create(mturk)
    number = submit(hit, worker).assignment_id
    mturk.reject_assignment(AssignmentId=number, RequesterFeedback="Empty.")
    shown = mturk.get_assignment(AssignmentId=number)
    assert shown["Assignment"]["AssignmentStatus"] == "Rejected"
    assert shown["Assignment"]["RequesterFeedback"] == "Empty."
    # The place is spent: the HIT does not open again.
    assert shown["HIT"]["HITStatus"] == "Reviewable"
    assert mturk.get_account_balance()["AvailableBalance"] == "1000.00"
    assert refusal(mturk.approve_assignment, AssignmentId=number)[0] == "InvalidAssignmentState"
    mturk.approve_assignment(AssignmentId=number, OverrideRejection=True)
    assert earnings(worker) == 50
    assert mturk.get_assignment(AssignmentId=number)["Assignment"]["RejectionTime"]


@operation("ApproveAssignment", "InvalidAssignmentState")
def test_rejections_stand_after_thirty_days_and_after_deletion(mturk: Any) -> None:
    for is_deleted in (False, True):
        hit = create(mturk)
        number = submit(hit).assignment_id
        mturk.reject_assignment(AssignmentId=number, RequesterFeedback="Empty.")
        if is_deleted:
            mturk.delete_hit(HITId=hit["HITId"])
        else:
            Assignment.objects.update(submitted_at=F("submitted_at") - timedelta(days=31))
        code, _ = refusal(mturk.approve_assignment, AssignmentId=number, OverrideRejection=True)
        assert code == "InvalidAssignmentState"


@operation("ApproveAssignment", "InsufficientFunds")
@operation("SendBonus", "InsufficientFunds")
def test_no_money_for_a_bonus_or_a_change_of_mind(
    client_for: Callable[[Requester], Any], worker: Worker
) -> None:
    mturk = client_for(make_requester(cents=50))
    number = submit(create(mturk), worker).assignment_id
    bonus = {"WorkerId": worker.worker_id, "BonusAmount": "0.01", "Reason": "r"}
    code, _ = refusal(mturk.send_bonus, AssignmentId=number, **bonus, UniqueRequestToken="later")
    assert code == "InsufficientFunds"
    mturk.reject_assignment(AssignmentId=number, RequesterFeedback="Empty.")
    mturk.send_bonus(AssignmentId=number, **bonus, UniqueRequestToken="later")
    code, _ = refusal(mturk.approve_assignment, AssignmentId=number, OverrideRejection=True)
    assert code == "InsufficientFunds"
    assert earnings(worker) == 1


@operation("GetAssignment")
@operation("RejectAssignment", "InvalidAssignmentState")
def test_auto_approval_is_true_before_anybody_swept(mturk: Any, worker: Worker) -> None:
    number = submit(create(mturk), worker).assignment_id
    Assignment.objects.update(auto_approval_at=F("submitted_at"), due_at=F("submitted_at"))
    code, _ = refusal(mturk.reject_assignment, AssignmentId=number, RequesterFeedback="no")
    assert code == "InvalidAssignmentState"
    shown = mturk.get_assignment(AssignmentId=number)["Assignment"]
    assert shown["AssignmentStatus"] == "Approved"
    assert earnings(worker) == 50


@operation("SendBonus")
@operation("ListBonusPayments")
@operation("SendBonus", "DuplicateRequest")
def test_bonuses_are_paid_once_per_token(mturk: Any, worker: Worker) -> None:
    hit = create(mturk)
    number = submit(hit, worker).assignment_id
    bonus = {"AssignmentId": number, "WorkerId": worker.worker_id, "Reason": "Kind comments"}
    with override_settings(MARKETPLACE_FEE_PERCENT=20):
        answer = mturk.send_bonus(**bonus, BonusAmount="0.5", UniqueRequestToken="b1")
    assert set(answer) == {"ResponseMetadata"}
    assert mturk.get_account_balance()["AvailableBalance"] == "998.90"
    code, message = refusal(mturk.send_bonus, **bonus, BonusAmount="0.5", UniqueRequestToken="b1")
    assert code == "DuplicateRequest"
    assert message.startswith('The idempotency token "b1" has already been processed. (')
    assert earnings(worker) == 50
    for _ in range(2):
        mturk.send_bonus(**bonus, BonusAmount="1")
    assert earnings(worker) == 250
    for by in ({"HITId": hit["HITId"]}, {"AssignmentId": number}):
        found = pages(mturk.list_bonus_payments, "BonusPayments", MaxResults=2, **by)
        amounts = [one["BonusAmount"] for page in found for one in page]
        assert amounts == ["0.50", "1.00", "1.00"]
        first = found[0][0]
        assert (first["WorkerId"], first["AssignmentId"]) == (worker.worker_id, number)
        assert first["Reason"] == "Kind comments"
        assert first["GrantTime"]
    other = create(mturk, Title="another")
    assert mturk.list_bonus_payments(HITId=other["HITId"])["BonusPayments"] == []


@operation("SendBonus", "WorkerDoesNotExist", "InvalidParameterValue")
@operation("ListBonusPayments", "InvalidParameterValue")
def test_a_bonus_is_for_who_did_the_work(mturk: Any, worker: Worker) -> None:
    hit = create(mturk)
    # The first to have this assignment's id gave it back.
    first = make_worker()
    assignment_return(assignment=accept(hit, first))
    number = submit(hit, worker).assignment_id
    assert Assignment.objects.filter(assignment_id=number).count() == 2
    bonus = {"AssignmentId": number, "BonusAmount": "1.00", "Reason": "r"}
    code, message = refusal(mturk.send_bonus, **bonus, WorkerId=first.worker_id)
    assert code == "InvalidParameterValue"
    assert f'The value "{first.worker_id}" is not valid for the parameter WorkerId.' in message
    code, message = refusal(mturk.send_bonus, **bonus, WorkerId="ANOBODY")
    assert code == "WorkerDoesNotExist"
    assert 'The value "ANOBODY" is not valid for the parameter WorkerId.' in message
    code, _ = refusal(
        mturk.send_bonus, **(bonus | {"BonusAmount": "0.00"}), WorkerId=worker.worker_id
    )
    assert code == "InvalidParameterValue"
    mturk.send_bonus(**bonus, WorkerId=worker.worker_id)
    assert (earnings(worker), earnings(first)) == (100, 0)
    assert refusal(mturk.list_bonus_payments)[0] == "InvalidParameterValue"


@operation("GetFileUploadURL", "InvalidParameterValue")
def test_there_are_no_uploaded_files(mturk: Any) -> None:
    number = submit(create(mturk)).assignment_id
    code, message = refusal(mturk.get_file_upload_url, AssignmentId=number, QuestionIdentifier="q")
    assert code == "InvalidParameterValue"
    assert "no longer offered" in message
