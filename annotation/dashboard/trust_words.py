"""Trust in words, and accuracy as a small bar with its interval."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from annotation import models
from annotation.dashboard.bars import FULL
from annotation.dashboard.words import STAGES
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust import standing as trust
from annotation.pipeline.trust.accuracy import Accuracy
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.crowd.workers import StandingLine

TRUST: dict[Trust, str] = {
    Trust.NEW: "New",
    Trust.TESTING: "Testing",
    Trust.PROBATION: "On probation",
    Trust.TRUSTED: "Trusted",
    Trust.REVOKED: "Revoked",
}
# The colours of badges, by the names used for images in the style sheet.
BADGES: dict[Trust, str] = {
    Trust.NEW: "new",
    Trust.TESTING: "new",
    Trust.PROBATION: "open",
    Trust.TRUSTED: "finished",
    Trust.REVOKED: "review",
}
# Half the width of the line that marks the share.
HALF_LINE = 12


class AccuracyBar(msgspec.Struct, frozen=True):
    """The interval, the share in it and the minimum, in the units of an SVG of `FULL`."""

    words: str
    minimum_words: str
    checks: int
    x: int
    width: int
    share_x: int
    minimum_x: int
    # The interval compared with the minimum: good, unsure or bad.
    kind: str


class StandingRow(msgspec.Struct, frozen=True):
    """A standing as pages show it."""

    line: StandingLine
    stage: str
    trust: str
    badge: str
    bar: AccuracyBar | None


def accuracy_bar(accuracy: Accuracy, minimum: float) -> AccuracyBar | None:
    """Return the bar of an accuracy; None if nothing has been checked.

    >>> bar = accuracy_bar(Accuracy(39, 45), 0.8)
    >>> bar.words, bar.x, bar.width, bar.share_x, bar.kind
    ('87%, between 74% and 94%', 737, 200, 855, 'unsure')
    """
    if accuracy.share is None:
        return None
    low, high = round(FULL * accuracy.low), round(FULL * accuracy.high)
    kind = "good" if accuracy.low >= minimum else "bad" if accuracy.high < minimum else "unsure"
    return AccuracyBar(
        words=str(accuracy),
        minimum_words=f"{minimum:.0%}",
        checks=accuracy.checks,
        x=low,
        width=max(high - low, 1),
        share_x=_line(accuracy.share),
        minimum_x=round(FULL * minimum),
        kind=kind,
    )


def standing_row(line: StandingLine) -> StandingRow:
    return StandingRow(
        line=line,
        stage=STAGES[line.stage],
        trust=TRUST[line.trust],
        badge=BADGES[line.trust],
        bar=accuracy_bar(line.accuracy, line.minimum),
    )


def event_words(event: trust.Event) -> str:
    """Describe an event in words.

    >>> event_words(trust.Checked(right=True))
    'A checked answer was right'
    """
    match event:
        case trust.BeganTest():
            return "Began the qualification test"
        case trust.FinishedTest(right=right, asked=asked):
            return f"Finished the qualification test with {right} of {asked} right"
        case trust.Checked(right=right):
            return f"A checked answer was {'right' if right else 'wrong'}"
        case trust.Revoked(reason=reason):
            return "Trust was revoked" + (f": {reason}" if reason else "")
        case trust.Reinstated(trusted=trusted):
            return "Reinstated, " + ("as trusted" if trusted else "on probation")
        case trust.Shaken(stage=stage):
            return f"Back on probation after losing trust at {STAGES[stage]}"
        case _:
            assert_never(event)


class EventLine(msgspec.Struct, frozen=True):
    """An event, or several checks at a stage in a row."""

    # The latest of them.
    event: models.TrustEvent
    stage: str
    words: str


def event_lines(events: Iterable[tuple[models.TrustEvent, trust.Event]]) -> list[EventLine]:
    """Describe events in words, in the given order; several checks in a row share one line."""
    lines: list[EventLine] = []
    checks: list[bool] = []
    for event, body in events:
        stage = STAGES[Stage(event.stage)]
        if not isinstance(body, trust.Checked):
            lines.append(EventLine(event=event, stage=stage, words=event_words(body)))
            checks = []
            continue
        if checks and lines[-1].event.stage == event.stage:
            event = lines.pop().event
        else:
            checks = []
        checks.append(body.right)
        lines.append(EventLine(event=event, stage=stage, words=_checks(checks)))
    return lines


def _checks(right: list[bool]) -> str:
    if len(right) == 1:
        return event_words(trust.Checked(right=right[0]))
    return f"{len(right)} checked answers, {sum(right)} of them right"


def _line(share: float) -> int:
    """Place a line so that it lies fully on the bar."""
    return min(max(round(FULL * share) - HALF_LINE, 0), FULL - 2 * HALF_LINE)
