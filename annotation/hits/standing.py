"""What workers read of where they stand, in words."""

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
    Trust.REVOKED: "You cannot work on this task any more",
}
# What who lost trust can do.
ASK_AGAIN = (
    "If you think that this is a mistake, you can ask for another look: the marketplace has a "
    "message for you with the link."
)


def standing_shown(standing: Standing, stage: Stage, settings: Settings) -> wire.Standing:
    """Say how good a worker is, how sure that is, and what they need; no more than they may know.

    Whatever happened since the last multiple of ten checks is not in it: it would give away which
    questions are checked.
    """
    seen = told(standing, stage, settings)
    words = _Words(stage)
    match seen.trust:
        case Trust.NEW | Trust.TESTING:
            lines = [
                f"Pass the test to begin: at least {_percent(seen.minimum)} of its questions "
                "answered right."
            ]
        case Trust.PROBATION:
            lines = [*words.accuracy(seen), *words.to_become_trusted(seen), words.moves(seen.every)]
        case Trust.TRUSTED:
            lines = [*words.accuracy(seen), *words.to_stay_trusted(seen), words.moves(seen.every)]
        case Trust.REVOKED:
            lines = [
                *_why(seen.reason),
                *(words.accuracy(seen) if seen.accuracy.checks else ()),
                "What you have submitted is paid.",
                ASK_AGAIN,
            ]
    return wire.Standing(title=TITLES[seen.trust], lines=tuple(lines))


class _Words:
    """What is checked has another name where boxes are drawn."""

    def __init__(self, stage: Stage) -> None:
        drawing = stage is Stage.DRAWING
        self._one = "box that was judged" if drawing else "checked answer"
        self._many = "boxes that were judged" if drawing else "checked answers"
        self._next = "boxes that are judged" if drawing else "checked answers"
        self._right = "good" if drawing else "right"
        self._wrong = "bad boxes" if drawing else "wrong answers to checked questions"

    def accuracy(self, seen: Told) -> list[str]:
        right, checks = seen.accuracy.right, seen.accuracy.checks
        needs = f"This task asks for {_percent(seen.minimum)}."
        if not checks:
            return [f"Your accuracy is not known yet. {needs}"]
        of = f"{right} of {checks} {self._many}" if checks > 1 else f"{right} of one {self._one}"
        share = f"Your accuracy is {_percent(seen.accuracy.share or 0)}: {of} were {self._right}."
        between = f"between {_percent(seen.accuracy.low)} and {_percent(seen.accuracy.high)}"
        sure = (
            f"Some of that is luck: your true accuracy is {between}, with "
            f"{_percent(SURE)} certainty."
        )
        return [f"{share} {needs}", sure]

    def to_become_trusted(self, seen: Told) -> list[str]:
        if seen.needed is None:
            return ["Even without another mistake that can no longer be reached on probation."]
        start = "From there on" if seen.accuracy.checks else "To become trusted"
        end = ", and you are trusted." if seen.accuracy.checks else "."
        return [f"{start}: {self._needed(seen.needed)}{end}"]

    def _needed(self, needed: Needed) -> str:
        if not needed.right:
            return f"{needed.checks} more {self._next}"
        if needed.right == needed.checks:
            return f"all of your next {needed.checks} {self._next} {self._right}"
        return f"at least {needed.right} of your next {needed.checks} {self._next} {self._right}"

    def to_stay_trusted(self, seen: Told) -> list[str]:
        stay = "You stay trusted while your work stays good."
        if seen.wrong_until_lost is None:
            return [stay]
        return [f"{stay} From there, {seen.wrong_until_lost} {self._wrong} in a row would end it."]

    def moves(self, every: int) -> str:
        how = f"every {every} {self._next}" if every > 1 else f"every {self._one}"
        return f"This is told anew after {how}, and does not move in between."


def _why(reason: str) -> list[str]:
    reason = reason.strip()
    if not reason:
        return []
    end = "" if reason.endswith((".", "!", "?", "…")) else "."
    return [f"Why: {reason}{end}"]


def _percent(share: float) -> str:
    return f"{share:.0%}"
