"""What workers are told when their standing changes."""

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

# A message that waits for the worker's first payment is tried after this long all the same.
TRIED_AFTER: Final = timedelta(minutes=10)


class Message(msgspec.Struct, frozen=True):
    """A subject and a text, as the marketplace sends them."""

    subject: str
    text: str


def trust_message(standing: models.WorkerStanding, before: Standing, after: Standing) -> Message:
    """Say what has changed for a worker, why, and what they can do."""
    task = _task(standing)
    crowd = standing.campaign.settings.crowd
    match after.trust:
        case Trust.PROBATION if before.trust in (Trust.NEW, Trust.TESTING):
            return Message(
                f"You can begin: {task}"[:200],
                f"You have passed the test of “{task}”. HITs of this task are open to you now. "
                f"Your first {crowd.probation_items} answers show whether it suits you; after "
                "that a few answers are checked now and then. All HITs are paid alike.",
            )
        case Trust.PROBATION if before.trust is Trust.TRUSTED:
            return Message(
                f"Your answers are checked more closely: {task}"[:200],
                f"You have lost trust at another task, so your next {crowd.probation_items} "
                f"answers at “{task}” are checked. After that it goes on as before. All HITs are "
                "paid alike.",
            )
        case Trust.PROBATION:
            return Message(
                f"You can work again: {task}"[:200],
                f"You can work on “{task}” again. Your next {crowd.probation_items} answers show "
                "whether it goes well; what was before no longer counts.",
            )
        case Trust.TRUSTED:
            return Message(
                f"You are trusted: {task}"[:200],
                f"Your answers at “{task}” are good: you are trusted there from now on. A few "
                "answers are still checked now and then.",
            )
        case _:
            appeal = appeal_url(standing)
            ask = f" If you think that this is wrong, tell us here: {appeal}" if appeal else ""
            return Message(
                f"No more HITs for now: {task}"[:200],
                f"You cannot work on “{task}” any more: {after.reason}. What you have submitted "
                f"is paid.{ask}",
            )


def appeal_message(standing: models.WorkerStanding, *, reinstate: bool, reply: str) -> Message:
    """Tell a worker what came of their appeal."""
    task = _task(standing)
    outcome = (
        f"We have looked at it once more: you can work on “{task}” again."
        if reinstate
        else f"We have looked at it once more: “{task}” stays closed to you."
    )
    return Message(f"Your appeal: {task}"[:200], f"{outcome} {reply}".strip())


def _task(standing: models.WorkerStanding) -> str:
    return stage_guide(standing.campaign, Stage(standing.stage)).guide.title


def message_queue(*, standing: models.WorkerStanding, key: str, words: Message) -> None:
    """Write to a worker, soon.

    The marketplace lets us write only to whom we have paid or refused something. Before that a
    message waits until that happens (`paying.py`): a try in vain would only delay it.
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
