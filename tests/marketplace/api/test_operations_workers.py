"""Blocks, messages and the account through the API, over HTTP, with boto3."""

from typing import Any

import pytest

from marketplace.actions.assignments import WorkRefusedError
from marketplace.models import Message, Worker
from tests.marketplace.calls import operation, pages, refusal
from tests.marketplace.hits import accept, create, submit
from tests.marketplace.people import make_worker


@operation("GetAccountBalance")
def test_the_balance_has_two_decimals(mturk: Any) -> None:
    answer = mturk.get_account_balance()
    assert (answer["AvailableBalance"], answer["OnHoldBalance"]) == ("1000.00", "0.00")
    create(mturk, Reward="0.05")
    answer = mturk.get_account_balance()
    assert (answer["AvailableBalance"], answer["OnHoldBalance"]) == ("999.95", "0.05")


@operation("CreateWorkerBlock")
@operation("DeleteWorkerBlock")
@operation("ListWorkerBlocks")
def test_blocks(mturk: Any, stranger: Any, worker: Worker) -> None:
    hit = create(mturk)
    number = worker.worker_id
    answer = mturk.create_worker_block(WorkerId=number, Reason="Guessing")
    assert set(answer) == {"ResponseMetadata"}
    with pytest.raises(WorkRefusedError):
        accept(hit, worker)
    accept(create(stranger), worker)
    mturk.create_worker_block(WorkerId=number, Reason="Guessing, again")
    others = [make_worker() for _ in range(2)]
    for other in others:
        mturk.create_worker_block(WorkerId=other.worker_id, Reason="r")
    found = pages(mturk.list_worker_blocks, "WorkerBlocks", MaxResults=2)
    assert found[0][0] == {"WorkerId": number, "Reason": "Guessing, again"}
    listed = [one["WorkerId"] for page in found for one in page]
    assert listed == [number, *(other.worker_id for other in others)]
    assert stranger.list_worker_blocks()["WorkerBlocks"] == []
    for _ in range(2):
        answer = mturk.delete_worker_block(WorkerId=number, Reason="Sorry")
        assert set(answer) == {"ResponseMetadata"}
    accept(hit, worker)
    assert mturk.list_worker_blocks()["NumResults"] == 2


@operation("CreateWorkerBlock", "WorkerDoesNotExist")
@operation("DeleteWorkerBlock", "WorkerDoesNotExist")
def test_blocks_are_for_workers_that_exist(mturk: Any) -> None:
    code, message = refusal(mturk.create_worker_block, WorkerId="ANOBODY", Reason="r")
    assert code == "WorkerDoesNotExist"
    assert message.startswith('The value "ANOBODY" is not valid for the parameter WorkerId. (')
    code, message = refusal(mturk.delete_worker_block, WorkerId="ANOBODY")
    assert code == "WorkerDoesNotExist"
    assert message.startswith("WorkerId is invalid. (")


@operation("NotifyWorkers")
def test_only_workers_whose_work_was_decided_are_written_to(mturk: Any, worker: Worker) -> None:
    hit = create(mturk, MaxAssignments=2)
    number = submit(hit, worker).assignment_id
    mturk.approve_assignment(AssignmentId=number)
    waiting = make_worker()
    submit(hit, waiting)
    message = {"Subject": "More work", "MessageText": "There are new HITs."}
    answer = mturk.notify_workers(**message, WorkerIds=[worker.worker_id])
    assert answer["NotifyWorkersFailureStatuses"] == []
    ids = [worker.worker_id, waiting.worker_id, "ANOBODY"]
    failures = mturk.notify_workers(**message, WorkerIds=ids)["NotifyWorkersFailureStatuses"]
    assert failures == [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": "Cannot send a notification to a worker who has not "
            "done any work for you",
            "WorkerId": number,
        }
        for number in ids[1:]
    ]
    assert [(one.subject, one.text) for one in worker.messages.all()] == [
        ("More work", "There are new HITs.")
    ] * 2
    assert Message.objects.count() == 2
