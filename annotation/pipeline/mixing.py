"""Mixing: which places of a sitting hold verification questions.

Every draw comes from the seed, which must hold something that workers cannot know: the rules are
public.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from annotation.pipeline.questions import Stage
from annotation.pipeline.settings import CrowdSettings
from annotation.pipeline.trust import Trust

T = TypeVar("T")


def checks_wanted(stage: Stage, trust: Trust, size: int, crowd: CrowdSettings, seed: str) -> int:
    """Return how many of a sitting's questions are to be verification questions.

    2% of ten questions is a fifth of one: one sitting in five, by lot, has one. So the share is
    right in the long run, and no sitting tells anything about the next. Drawing has none.

    >>> checks_wanted(Stage.LINKS, Trust.PROBATION, 10, CrowdSettings(), "s")
    10
    """
    if stage is Stage.DRAWING:
        return 0
    share = crowd.check_share if trust is Trust.TRUSTED else crowd.probation_check_share
    # 0.1 of 30 is a little more than 3 in binary, and must not draw for a fourth.
    exact = round(size * share, 9)
    whole = int(exact)
    return whole + (_random(seed, "checks").random() < exact - whole)


def check_places(size: int, checks: int, seed: str) -> tuple[int, ...]:
    """Return the places of that many verification questions, from 1, in order.

    >>> check_places(10, 2, "sitting 7"), check_places(3, 3, "")
    ((5, 9), (1, 2, 3))
    """
    return tuple(sorted(_random(seed, "places").sample(range(1, size + 1), checks)))


def mix(questions: Sequence[T], checks: Sequence[T], seed: str) -> list[T]:
    """Return both in one row: each kind in its order, at places that nobody can foresee.

    >>> mix("abcd", "XY", "sitting 3")
    ['a', 'X', 'b', 'Y', 'c', 'd']
    """
    places = set(check_places(len(questions) + len(checks), len(checks), seed))
    real, known = iter(questions), iter(checks)
    return [
        next(known) if place in places else next(real)
        for place in range(1, len(questions) + len(checks) + 1)
    ]


def _random(seed: str, purpose: str) -> Random:
    return Random(f"{purpose}/{seed}")
