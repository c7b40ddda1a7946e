"""Messages to workers when their standing changes."""

from datetime import timedelta
from typing import Final

import msgspec

from annotation import models
from annotation.actions.crowd.outbox import call_queue
from annotation.models import AssignmentStatus, Operation
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Standing, Trust
from annotation.selectors.trust.appeals import appeal_url
from annotation.selectors.work.guides import stage_guide
from common.clock import database_now

# A message that waits for the worker's first payment is tried after this long anyway.
TRIED_AFTER: Final = timedelta(minutes=10)


class Message(msgspec.Struct, frozen=True):
    """A subject and a text, as the marketplace sends them."""

    subject: str
    text: str


def trust_message(standing: models.WorkerStanding, before: Standing, after: Standing) -> Message:
    """Return a message about what has changed, why, and what the worker can do."""
    task = _task(standing)
    crowd = standing.campaign.settings.crowd
    match after.trust:
        case Trust.PROBATION if before.trust in (Trust.NEW, Trust.TESTING):
            return Message(
                f"You can begin: {task}"[:200],
                f"You have passed the test for “{task}” and can now work on its HITs. Your first "
                f"{crowd.probation_items} answers are checked; after that, a few are checked now "
                "and then. All HITs pay the same.",
            )
        case Trust.PROBATION if before.trust is Trust.TRUSTED:
            return Message(
                f"Your answers are checked more closely: {task}"[:200],
                f"You have lost trust in another task, so your next {crowd.probation_items} "
                f"answers in “{task}” are checked. After that you work as before. All HITs pay the "
                "same.",
            )
        case Trust.PROBATION:
            return Message(
                f"You can work again: {task}"[:200],
                f"You can work on “{task}” again. Your next {crowd.probation_items} answers are "
                "checked; earlier mistakes no longer count.",
            )
        case Trust.TRUSTED:
            return Message(
                f"You are trusted: {task}"[:200],
                f"Your answers in “{task}” are good, so you are now trusted. From now on, only a "
                "few of them are checked.",
            )
        case _:
            appeal = appeal_url(standing)
            ask = f" If you think this is wrong, tell us here: {appeal}" if appeal else ""
            return Message(
                f"No more HITs for now: {task}"[:200],
                f"You can no longer work on “{task}”: {after.reason}. You are paid for the work "
                f"that you have submitted.{ask}",
            )


def appeal_message(standing: models.WorkerStanding, *, reinstate: bool, reply: str) -> Message:
    """Return a message with the outcome of an appeal."""
    task = _task(standing)
    outcome = (
        f"We have reviewed your appeal: you can work on “{task}” again."
        if reinstate
        else f"We have reviewed your appeal: “{task}” stays closed to you."
    )
    return Message(f"Your appeal: {task}"[:200], f"{outcome} {reply}".strip())


def _task(standing: models.WorkerStanding) -> str:
    return stage_guide(standing.campaign, Stage(standing.stage)).guide.title


def message_queue(*, standing: models.WorkerStanding, key: str, words: Message) -> None:
    """Queue a message to a worker.

    The marketplace lets us write only to workers whose work we have approved or rejected. Until
    that happens (`payments.py`) a message waits: a failed try would only delay it.
    """
    decided = models.Assignment.objects.filter(worker=standing.worker_id).exclude(
        status=AssignmentStatus.SUBMITTED
    )
    call_queue(
        campaign=standing.campaign,
        operation=Operation.MESSAGE,
        key=key,
        worker=standing.worker,
        stage=standing.stage,
        not_before=None if decided.exists() else database_now() + TRIED_AFTER,
        subject=words.subject,
        text=words.text,
    )
