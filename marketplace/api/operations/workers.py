"""Operations on workers: blocks and messages."""

from typing import Any

from marketplace.actions.blocks import block_lift, block_set
from marketplace.actions.notices.messages import NEVER_WORKED, workers_notify
from marketplace.api.operations.paging import listing
from marketplace.models import Requester, Worker, WorkerBlock
from marketplace.rules.errors import RequestError
from marketplace.selectors.owned import worker_named


def create_worker_block(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    block_set(requester=caller, worker=worker_named(params["WorkerId"]), reason=params["Reason"])
    return {}


def delete_worker_block(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    worker = Worker.objects.filter(worker_id=params["WorkerId"]).first()
    if worker is None:
        raise RequestError("WorkerDoesNotExist", "WorkerId is invalid.")
    block_lift(requester=caller, worker=worker)
    return {}


def list_worker_blocks(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    rows = WorkerBlock.objects.filter(requester=caller).select_related("worker")
    page, answer = listing(caller, "ListWorkerBlocks", params, rows)
    shown = [{"WorkerId": row.worker.worker_id, "Reason": row.reason} for row in page]
    return answer | {"WorkerBlocks": shown}


def notify_workers(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """Send a message to workers. The answer names those who could not be reached."""
    left_out = workers_notify(
        requester=caller,
        worker_ids=params["WorkerIds"],
        subject=params["Subject"],
        text=params["MessageText"],
    )
    failures = [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": NEVER_WORKED,
            "WorkerId": worker_id,
        }
        for worker_id in left_out
    ]
    return {"NotifyWorkersFailureStatuses": failures}
