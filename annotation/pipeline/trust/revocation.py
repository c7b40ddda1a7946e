"""Which judgments to doubt when a worker loses trust."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

from annotation.pipeline.protocol.settings import CrowdSettings, DoubtSince
from annotation.pipeline.trust.accuracy import chance_at_least

T = TypeVar("T")


class Work(msgspec.Struct, Generic[T], frozen=True):
    """One answer of a worker at a stage: a judgment, a check, or (for a box) both."""

    # An identifier of the judgment; None for the answer to a gold question.
    judgment: T | None = None
    # Whether the check was passed; None if this is no check, or a box not judged yet.
    passed: bool | None = None


def doubtful(work: Sequence[Work[T]], minimum: float, crowd: CrowdSettings) -> list[T]:
    """Return the judgments to doubt, oldest first; `work` is all of it, in order.

    These are the judgments since the worker's accuracy dropped or, if set so, since the last check
    passed. Spam passes checks by chance, so the latter reaches back only a little.

    >>> work = [Work(1), Work(passed=True), Work(2), Work(passed=False), Work(3)]
    >>> doubtful(work, 0.8, CrowdSettings())
    [2, 3]
    """
    if crowd.doubt_since is DoubtSince.DROP:
        start = _after_drop(work, minimum, crowd.trust_window)
    else:
        start = _after_last_passed(work)
    return [item.judgment for item in work[start:] if item.judgment is not None]


def _after_last_passed(work: Sequence[Work[T]]) -> int:
    passed = [place for place, item in enumerate(work) if item.passed]
    return passed[-1] + 1 if passed else 0


def _after_drop(work: Sequence[Work[T]], minimum: float, window: int) -> int:
    """Return the place where the worst stretch of checks begins: after the check before it.

    If no check was failed there is no drop, and this is the place after the last check.
    """
    checks = [place for place, item in enumerate(work) if item.passed is not None]
    right, worst, length = 0, 1.0, 0
    for checked, place in enumerate(reversed(checks[-window:]), start=1):
        right += bool(work[place].passed)
        chance = chance_at_least(minimum, right, checked)
        if right < checked and chance <= worst:
            worst, length = chance, checked
    before = len(checks) - length
    return checks[before - 1] + 1 if before else 0
