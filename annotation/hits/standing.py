"""A worker's standing, in words for the worker."""

from annotation.hits import wire
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.trust.accuracy import SURE
from annotation.pipeline.trust.standing import Needed, Standing, Told, Trust, told

TITLES = {
    Trust.NEW: "You are new to this task",
    Trust.TESTING: "You have not passed the test yet",
    Trust.PROBATION: "You are on probation",
    Trust.TRUSTED: "You are trusted",
    Trust.REVOKED: "You can no longer work on this task",
}
# For workers who lost trust.
ASK_AGAIN = (
    "If you think that this is a mistake, you can appeal: we have sent you a message with a link "
    "on the marketplace."
)


def standing_shown(standing: Standing, stage: Stage, settings: Settings) -> wire.Standing:
    """Describe a worker's accuracy, how certain it is, and what they need; nothing more.

    Checks since the last multiple of ten are left out: they would give away which questions are
    checked.
    """
    seen = told(standing, stage, settings)
    words = _Words(stage)
    match seen.trust:
        case Trust.NEW | Trust.TESTING:
            lines = [
                f"Pass the test to begin: answer at least {_percent(seen.minimum)} of its "
                "questions correctly."
            ]
        case Trust.PROBATION:
            lines = [*words.accuracy(seen), *words.to_become_trusted(seen), words.moves(seen.every)]
        case Trust.TRUSTED:
            lines = [*words.accuracy(seen), *words.to_stay_trusted(seen), words.moves(seen.every)]
        case Trust.REVOKED:
            lines = [
                *_why(seen.reason),
                *(words.accuracy(seen) if seen.accuracy.checks else ()),
                "You will be paid for everything you have submitted.",
                ASK_AGAIN,
            ]
    return wire.Standing(title=TITLES[seen.trust], lines=tuple(lines))


class _Words:
    """What is checked has a different name at the drawing stage."""

    def __init__(self, stage: Stage) -> None:
        drawing = stage is Stage.DRAWING
        self._one = "checked box" if drawing else "checked answer"
        self._many = "checked boxes" if drawing else "checked answers"
        self._right = "good" if drawing else "right"
        self._wrong = "bad boxes" if drawing else "wrong answers to checked questions"

    def accuracy(self, seen: Told) -> list[str]:
        right, checks = seen.accuracy.right, seen.accuracy.checks
        needs = f"This task requires {_percent(seen.minimum)}."
        if not checks:
            return [f"Your accuracy is not known yet. {needs}"]
        of = f"{right} of {checks} {self._many}" if checks > 1 else f"{right} of one {self._one}"
        share = f"Your accuracy is {_percent(seen.accuracy.share or 0)}: {of} were {self._right}."
        between = f"between {_percent(seen.accuracy.low)} and {_percent(seen.accuracy.high)}"
        sure = (
            f"Part of that may be luck: with {_percent(SURE)} certainty, your true accuracy is "
            f"{between}."
        )
        return [f"{share} {needs}", sure]

    def to_become_trusted(self, seen: Told) -> list[str]:
        if seen.needed is None:
            return ["You can no longer reach that on probation, even without another mistake."]
        return [f"To become trusted, {self._needed(seen.needed)}."]

    def _needed(self, needed: Needed) -> str:
        if not needed.right:
            return f"you need {needed.checks} more {self._many}"
        if needed.right == needed.checks:
            return f"all of your next {needed.checks} {self._many} must be {self._right}"
        return (
            f"at least {needed.right} of your next {needed.checks} {self._many} must be "
            f"{self._right}"
        )

    def to_stay_trusted(self, seen: Told) -> list[str]:
        stay = "You stay trusted while your work stays good."
        if seen.wrong_until_lost is None:
            return [stay]
        lost = f"You would lose this status after {seen.wrong_until_lost} {self._wrong} in a row."
        return [f"{stay} {lost}"]

    def moves(self, every: int) -> str:
        how = f"every {every} {self._many}" if every > 1 else f"every {self._one}"
        return f"We update these numbers after {how}; they do not change in between."


def _why(reason: str) -> list[str]:
    reason = reason.strip()
    if not reason:
        return []
    end = "" if reason.endswith((".", "!", "?", "…")) else "."
    return [f"Why: {reason}{end}"]


def _percent(share: float) -> str:
    return f"{share:.0%}"
