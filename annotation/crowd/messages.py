"""Setting workers' qualifications, and writing to workers."""

from datetime import timedelta

from annotation import models
from annotation.actions.crowd.workers import OWN_NAMES
from annotation.crowd.errors import TryAgainError
from annotation.crowd.registration import qualification_ensure
from annotation.crowd.steps import Batch, NobodyError, Step, details, nothing_follows

# Only workers whose work was decided on can be written to; the decision may still come.
WRITING_TRIED_FOR = timedelta(days=3)
MOST_SUBJECT, MOST_TEXT = 200, 4096


def qualify(call: models.OutboxCall, batch: Batch) -> Step:
    """Set a worker's value of a stage's qualification. Repeating it does no harm."""
    worker, client = worker_of(call), batch.client
    type_id = qualification_ensure(client, call.campaign, call.stage)
    value = int(details(call)["value"])
    return Step(
        ask=lambda: client.qualification_set(type_id=type_id, worker=worker, value=value),
        apply=nothing_follows,
    )


def message(call: models.OutboxCall, batch: Batch) -> Step:
    """Write to a worker. There is no token for this: if the answer is lost, it is sent twice."""
    worker, client = worker_of(call), batch.client
    told = details(call)
    subject, text = str(told["subject"])[:MOST_SUBJECT], str(told["text"])[:MOST_TEXT]
    is_late = batch.now - call.created_at > WRITING_TRIED_FOR

    def ask() -> None:
        problem = client.worker_write(worker=worker, subject=subject, text=text)
        if problem and is_late:
            raise NobodyError(problem)
        if problem:
            raise TryAgainError(problem, slow=True)

    return Step(ask=ask, apply=nothing_follows)


def worker_of(call: models.OutboxCall) -> str:
    """Return the worker's id on the marketplace (NobodyError)."""
    assert call.worker is not None
    if call.worker.name.startswith(OWN_NAMES):
        raise NobodyError("The worker has been erased.")
    return call.worker.name
