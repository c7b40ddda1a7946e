"""A worker's standing at a stage, worked out from their checked answers.

    new ─▶ testing ─▶ probation ─▶ trusted
                          │  ▲        │
                          ▼  │        ▼
                        revoked ◀─────┘      (a researcher may reinstate)

A standing is a fold of events, as an image's state is a fold of its facts. Checks are answers to
gold questions or, at Drawing, boxes that pass or fail Quality.
"""

import math
from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

import msgspec
from msgspec.structs import replace

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from annotation.pipeline.trust.accuracy import Accuracy, chance_at_least

# Two unlucky answers never end trust, whatever window and limits the campaign sets.
LEAST_WRONG = 3


class Trust(StrEnum):
    """Where a worker stands at a stage."""

    NEW = "new"
    TESTING = "testing"
    PROBATION = "probation"
    TRUSTED = "trusted"
    REVOKED = "revoked"


# Only these workers get questions of the stage.
WORKING = (Trust.PROBATION, Trust.TRUSTED)


class Tally(msgspec.Struct, frozen=True, omit_defaults=True):
    """Checks since probation last began: how many, how many right, and the latest in order."""

    checks: int = 0
    right: int = 0
    recent: tuple[bool, ...] = ()

    @property
    def accuracy(self) -> Accuracy:
        return Accuracy(self.right, self.checks)


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """A worker's record at a stage; `told` is the part that the worker has seen."""

    trust: Trust = Trust.NEW
    now: Tally = Tally()
    told: Tally = Tally()
    # Why trust was lost, in words for the worker.
    reason: str = ""


# Events. One that does not apply, for example because it comes late, changes nothing.


class BeganTest(msgspec.Struct, frozen=True, tag="began_test"):
    """The worker opened the stage's qualification test."""


class FinishedTest(msgspec.Struct, frozen=True, tag="finished_test"):
    """The worker finished it; `needed` is the share that was enough to pass at that time."""

    right: int
    asked: int
    needed: float | None = None


class Checked(msgspec.Struct, frozen=True, tag="checked"):
    """A gold question was answered, or a box of the worker's was judged."""

    right: bool


class Revoked(msgspec.Struct, frozen=True, tag="revoked"):
    """A researcher ended the worker's trust."""

    reason: str


class Reinstated(msgspec.Struct, frozen=True, tag="reinstated", omit_defaults=True):
    """A researcher gave the worker another chance, on probation unless they say otherwise.

    Old checks no longer count, or the next wrong answer would end trust again. Doubts stay.
    """

    trusted: bool = False


class Shaken(msgspec.Struct, frozen=True, tag="shaken"):
    """The worker lost trust at another stage, so they are on probation here again.

    Checks count from zero, as after a reinstatement.
    """

    stage: Stage


Event = BeganTest | FinishedTest | Checked | Revoked | Reinstated | Shaken

_decode_event = msgspec.json.Decoder(Event)


def encode_event(event: Event) -> str:
    return msgspec.json.encode(event).decode()


def decode_event(text: str) -> Event:
    event: Event = _decode_event.decode(text)
    return event


def follow(standing: Standing, event: Event, stage: Stage, settings: Settings) -> Standing:
    """Return the standing after an event."""
    match event:
        case BeganTest():
            return (
                replace(standing, trust=Trust.TESTING) if standing.trust is Trust.NEW else standing
            )
        case FinishedTest(right=right, asked=asked, needed=needed):
            if standing.trust not in (Trust.NEW, Trust.TESTING):
                return standing
            minimum = settings.minimum_performance[stage] if needed is None else needed
            passed = is_enough(right, asked, minimum)
            return Standing(trust=Trust.PROBATION if passed else Trust.TESTING)
        case Checked(right=right):
            return _checked(standing, right, stage, settings)
        case Revoked(reason=reason):
            if standing.trust is Trust.REVOKED:
                return standing
            return replace(standing, trust=Trust.REVOKED, reason=reason)
        case Reinstated(trusted=trusted):
            if standing.trust is not Trust.REVOKED:
                return standing
            return Standing(trust=Trust.TRUSTED if trusted else Trust.PROBATION)
        case Shaken():
            if standing.trust is not Trust.TRUSTED:
                return standing
            return Standing(trust=Trust.PROBATION)
        case _:
            assert_never(event)


def fold(events: Iterable[Event], stage: Stage, settings: Settings) -> Standing:
    """Return the standing of a new worker after these events."""
    standing = Standing()
    for event in events:
        standing = follow(standing, event, stage, settings)
    return standing


def disbelief(standing: Standing, stage: Stage) -> str:
    """Return why this worker's answers do not count; empty if they count.

    Answers of trusted workers count. Drawings count during probation too: Quality judges the boxes,
    and "none needed" is one vote among others, which is checked when the chain is settled.
    """
    if standing.trust is Trust.TRUSTED:
        return ""
    if standing.trust is Trust.REVOKED:
        return standing.reason or "trust was lost"
    draws = stage is Stage.DRAWING and standing.trust is Trust.PROBATION
    return "" if draws else "not trusted yet"


def is_enough(right: int, checks: int, minimum: float) -> bool:
    """Tell whether a share of right answers reaches the minimum, exactly.

    >>> is_enough(83, 100, 0.83), is_enough(0, 0, 0.83)
    (True, False)
    """
    return checks > 0 and right >= _exact(minimum) * checks


def stretch_lost(recent: tuple[bool, ...], minimum: float, crowd: CrowdSettings) -> int:
    """Return how many of the latest checks are enough to end trust; 0 if trust is kept.

    That is the whole window, if it makes it improbable that the worker is good enough. It is fewer
    if those alone make it far more improbable: the worker was good and has changed.

    >>> stretch_lost((False, False), 0.8, CrowdSettings())
    0
    >>> stretch_lost((False, False, False, False), 0.8, CrowdSettings())
    4
    >>> stretch_lost((True,) * 20 + (False,) * 7, 0.8, CrowdSettings())
    7
    """
    if is_hopeless(sum(recent), len(recent), minimum, crowd.trust_limit):
        return len(recent)
    right = 0
    for checks, is_right in enumerate(reversed(recent), start=1):
        right += is_right
        if is_hopeless(right, checks, minimum, crowd.trust_drop_limit):
            return checks
    return 0


def is_hopeless(right: int, checks: int, minimum: float, limit: float) -> bool:
    """Tell whether the chance that a worker is good enough is below the limit."""
    return checks - right >= LEAST_WRONG and chance_at_least(minimum, right, checks) < limit


def _checked(standing: Standing, right: bool, stage: Stage, settings: Settings) -> Standing:
    if standing.trust not in WORKING:
        return standing
    crowd, minimum = settings.crowd, settings.minimum_performance[stage]
    before = standing.now
    now = Tally(
        checks=before.checks + 1,
        right=before.right + right,
        recent=(*before.recent, right)[-crowd.trust_window :],
    )
    told = now if now.checks % crowd.show_accuracy_every == 0 else standing.told
    standing = replace(standing, now=now, told=told)
    # A right answer never ends trust, even if the settings have become stricter since.
    lost = 0 if right else stretch_lost(now.recent, minimum, crowd)
    if lost:
        wrong = now.recent[-lost:].count(False)
        return _revoked(standing, f"{wrong} of your last {lost} checked answers were wrong")
    if standing.trust is Trust.PROBATION and now.checks >= crowd.probation_items:
        if is_enough(now.right, now.checks, minimum):
            return replace(standing, trust=Trust.TRUSTED)
        if now.checks >= crowd.probation_limit:
            share = f"{now.right} of your first {now.checks} checked answers were right"
            return _revoked(standing, f"{share}, and it takes {minimum:.0%}")
    return standing


def _revoked(standing: Standing, reason: str) -> Standing:
    # Show the worker everything now: there are no more gold questions to give away.
    return replace(standing, trust=Trust.REVOKED, told=standing.now, reason=reason)


# What a worker still needs


class Needed(msgspec.Struct, frozen=True):
    """So many right answers among so many checked ones."""

    right: int
    checks: int


def needed_for_trust(tally: Tally, minimum: float, crowd: CrowdSettings) -> Needed | None:
    """Return what a worker in probation needs to become trusted; None if it is too late.

    >>> needed_for_trust(Tally(checks=20, right=17), 0.8, CrowdSettings())
    Needed(right=7, checks=10)
    >>> needed_for_trust(Tally(checks=30, right=23), 0.8, CrowdSettings())
    Needed(right=5, checks=5)
    """
    share = _exact(minimum)
    left = crowd.probation_items - tally.checks
    right = max(0, math.ceil(share * crowd.probation_items) - tally.right)
    if 0 <= right <= left:
        return Needed(right=right, checks=left)
    # Too late for the first items; every further answer must be right until the share is reached.
    short = share * tally.checks - tally.right
    if share == 1:
        return None
    more = math.ceil(short / (1 - share))
    if tally.checks + more > crowd.probation_limit:
        return None
    return Needed(right=more, checks=more)


def wrong_until_lost(tally: Tally, minimum: float, crowd: CrowdSettings) -> int | None:
    """Return how many wrong answers in a row would end trust; None if no number would.

    >>> wrong_until_lost(Tally(checks=10, right=10, recent=(True,) * 10), 0.8, CrowdSettings())
    7
    """
    recent = tally.recent
    for wrong in range(crowd.trust_window):
        recent = (*recent, False)[-crowd.trust_window :]
        if stretch_lost(recent, minimum, crowd):
            return wrong + 1
    return None


class Told(msgspec.Struct, frozen=True):
    """What a worker may see of their standing, as of the last update."""

    trust: Trust
    accuracy: Accuracy
    minimum: float
    # Accuracy is updated after so many checked items. The number left until then stays secret,
    # because it would reveal which questions were gold questions.
    every: int
    # On probation: what the worker needs to become trusted.
    needed: Needed | None = None
    # Once trusted: how many wrong answers in a row would end trust.
    wrong_until_lost: int | None = None
    reason: str = ""


def told(standing: Standing, stage: Stage, settings: Settings) -> Told:
    """Return what the worker sees."""
    crowd, minimum = settings.crowd, settings.minimum_performance[stage]
    seen = standing.told
    on_probation = standing.trust is Trust.PROBATION
    is_trusted = standing.trust is Trust.TRUSTED
    return Told(
        trust=standing.trust,
        accuracy=seen.accuracy,
        minimum=minimum,
        every=crowd.show_accuracy_every,
        needed=needed_for_trust(seen, minimum, crowd) if on_probation else None,
        wrong_until_lost=wrong_until_lost(seen, minimum, crowd) if is_trusted else None,
        reason=standing.reason,
    )


def _exact(minimum: float) -> Fraction:
    """Return the share as it was written, 0.83 as 83/100."""
    return Fraction(str(minimum))
