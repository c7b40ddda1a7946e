"""Mixing: how many of a sitting's questions are gold questions, and how they stay hidden.

Every draw comes from the seed. The seed must hold something that workers cannot know, because the
rules are public.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from random import Random
from typing import TypeVar

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.trust.standing import Trust

T = TypeVar("T")

# To find different images, look at this many questions for each wanted one. With images of the
# public dataset, hardly any sitting then has two questions about one image.
LOOKED_AT_PER_WANTED = 4


def checks_wanted(stage: Stage, trust: Trust, size: int, crowd: CrowdSettings, seed: str) -> int:
    """Return how many of a sitting's questions should be gold questions.

    2% of ten questions is a fifth of a question, so a random one in five sittings has one. The
    share is right in the long run, and no sitting tells anything about the next. Drawing has none.

    >>> checks_wanted(Stage.LINKS, Trust.PROBATION, 10, CrowdSettings(), "s")
    10
    """
    if not spec_of(stage).has_gold:
        return 0
    share = crowd.check_share if trust is Trust.TRUSTED else crowd.probation_check_share
    # In binary, 0.1 of 30 is a little more than 3; this must not draw for a fourth.
    exact = round(size * share, 9)
    whole = int(exact)
    return whole + (_random(seed, "checks").random() < exact - whole)


def spread(
    questions: Iterable[T], image_of: Callable[[T], int], wanted: int, images: Collection[int] = ()
) -> list[T]:
    """Return the first `wanted` questions, but take new images before repeating one.

    A gold question is nearly always the only one about its image, so the others must be too.
    `images` are those that the sitting already has. Reads no more questions than it needs.

    >>> spread(["a1", "a2", "b1", "c1"], lambda question: ord(question[0]), 3)
    ['a1', 'b1', 'c1']
    >>> spread(["a1", "a2", "b1"], lambda question: ord(question[0]), 3)
    ['a1', 'b1', 'a2']
    """
    if wanted < 1:
        return []
    of_new, of_known = list[T](), list[T]()
    seen = set(images)
    for looked_at, question in enumerate(questions, start=1):
        image = image_of(question)
        (of_known if image in seen else of_new).append(question)
        seen.add(image)
        if len(of_new) == wanted or looked_at == LOOKED_AT_PER_WANTED * wanted:
            break
    return [*of_new, *of_known][:wanted]


def mix(questions: Sequence[T], checks: Sequence[T], seed: str) -> list[T]:
    """Return both kinds in one list: each in its own order, at unpredictable places.

    >>> mix("abcd", "XY", "sitting 3")
    ['a', 'X', 'b', 'Y', 'c', 'd']
    """
    size = len(questions) + len(checks)
    places = set(_random(seed, "places").sample(range(size), len(checks)))
    real, known = iter(questions), iter(checks)
    return [next(known) if place in places else next(real) for place in range(size)]


def _random(seed: str, purpose: str) -> Random:
    return Random(f"{purpose}/{seed}")
