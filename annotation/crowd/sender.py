"""Sending the outbox: each call until the marketplace confirms it, without holding up others.

A call is claimed, and the claim is committed. Then the marketplace is asked, with the call's token
and outside any transaction. Then the result is saved together with the end of the call. A sender
that is stopped in between leaves a claim that runs out, and the next try finds what it has done.
"""

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from annotation import models
from annotation.actions.crowd.outbox import (
    call_drop,
    call_fail,
    call_finish,
    call_postpone,
    calls_are_due,
    calls_claim,
    calls_give_back,
)
from annotation.crowd.client import MTurk
from annotation.crowd.errors import RefusedError, TryAgainError, UnreachableError
from annotation.crowd.hits import create_hit, expire_hit
from annotation.crowd.messages import message, qualify
from annotation.crowd.payments import approve, bonus, reject
from annotation.crowd.steps import Batch, NobodyError, Step
from annotation.models import Operation
from common.clock import database_now

log = logging.getLogger(__name__)

HANDLERS: dict[str, Callable[[models.OutboxCall, Batch], Step]] = {
    Operation.CREATE_HIT: create_hit,
    Operation.EXPIRE_HIT: expire_hit,
    Operation.APPROVE: approve,
    Operation.REJECT: reject,
    Operation.BONUS: bonus,
    Operation.QUALIFY: qualify,
    Operation.MESSAGE: message,
}
# Claimed together. A call may take long: none is started on a claim that is about to expire.
CLAIMED_AT_ONCE = 20
FRESH_SECONDS = 5.0
# After this many calls in a row without an answer, the marketplace is down and the rest can wait.
UNREACHABLE_IN_A_ROW = 3

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 600.0
# For calls that need somebody to act first, such as adding funds.
SLOW_FIRST_PAUSE = 30.0


class _Answer:
    """The outcome of a call: an answer, or an error to classify."""

    def __init__(self, call: models.OutboxCall, step: Step | None = None) -> None:
        self.call = call
        self.step = step
        self.value: Any = None
        self.error: Exception | None = None


def calls_send(*, client: MTurk, most: int = 100, at_once: int = 4) -> int:
    """Send calls that are due; return how many were tried.

    At most `at_once` calls are under way at a time; only this thread uses the database.
    """
    tried = 0
    silent = 0
    while tried < most and silent < UNREACHABLE_IN_A_ROW and calls_are_due():
        calls = calls_claim(most=min(CLAIMED_AT_ONCE, most - tried))
        if not calls:
            break
        untried = list(calls)
        for answers in _asked(calls, client, at_once):
            # All of these were tried together, so all of them are recorded.
            for answer in answers:
                untried.remove(answer.call)
                tried += 1
                _finish(answer)
                silent = silent + 1 if isinstance(answer.error, UnreachableError) else 0
            if silent >= UNREACHABLE_IN_A_ROW:
                break
        calls_give_back(calls=untried)
    return tried


def _asked(
    calls: Sequence[models.OutboxCall], client: MTurk, at_once: int
) -> Iterator[list[_Answer]]:
    """Make each call while its claim is fresh; yield the answers of the calls made together."""
    until = time.monotonic() + FRESH_SECONDS
    batch = Batch(client, database_now())
    if at_once == 1:
        for call in calls:
            if time.monotonic() > until:
                return
            yield [_ask(_prepared(call, batch))]
        return
    with ThreadPoolExecutor(at_once) as pool:
        for start in range(0, len(calls), at_once):
            if time.monotonic() > until:
                return
            prepared = [_prepared(call, batch) for call in calls[start : start + at_once]]
            yield list(pool.map(_ask, prepared))


def _prepared(call: models.OutboxCall, batch: Batch) -> _Answer:
    answer = _Answer(call)
    try:
        answer.step = HANDLERS[call.operation](call, batch)
    except Exception as error:
        answer.error = error
    return answer


def _ask(answer: _Answer) -> _Answer:
    if answer.step is not None:
        try:
            answer.value = answer.step.ask()
        except Exception as error:
            answer.error = error
    return answer


def _finish(answer: _Answer) -> None:
    """Record the outcome of a call. A problem with one call does not stop the others."""
    call, step, value, error = answer.call, answer.step, answer.value, answer.error
    if error is None and step is not None:
        try:
            call_finish(call=call, apply=lambda: step.apply(value))
            return
        except Exception as problem:
            error = answer.error = problem
    if isinstance(error, NobodyError):
        call_drop(call=call, reason=str(error))
    elif isinstance(error, RefusedError):
        log.warning("%s was refused: %s", call.key, error)
        call_fail(call=call, problem=str(error))
    elif isinstance(error, TryAgainError):
        call_postpone(call=call, problem=str(error), after=_pause(call.attempts, error.slow))
    else:
        # A bug of ours, or a lost database connection: in the second case this fails as well.
        log.error("%s could not be sent", call.key, exc_info=error)
        problem_words = f"{type(error).__name__}: {error}"
        call_postpone(call=call, problem=problem_words, after=_pause(call.attempts, True))


def _pause(attempts: int, slow: bool) -> timedelta:
    """Return how long to wait: twice as long after each failure, with some randomness."""
    first = SLOW_FIRST_PAUSE if slow else FIRST_PAUSE
    longest = min(first * 2.0 ** min(attempts - 1, 20), LONGEST_PAUSE)
    return timedelta(seconds=longest * random.uniform(0.5, 1.0))
