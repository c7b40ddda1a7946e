"""Simulated workers: seeded, independent, and as often wrong as the supplement's.

Every choice is drawn from the seed and what it is about, not from a running sequence: the same
seed gives the same judgments whatever the order, and a run that was cut off goes on as if it had
not been.
"""

from random import Random

import msgspec

from annotation.pipeline.facts import Judgment
from annotation.pipeline.geometry import Rect
from annotation.pipeline.independence import may_answer
from annotation.pipeline.questions import ANSWERS, BOX, NOBOX, NONE_NEEDED, SCENE, Question, Stage
from annotation.pipeline.state import ImageState, accepted_boxes
from annotation.simulation.answer_key import AnswerKey

# Average worker quality on verification questions (supplement, Table 1). For Drawing the table
# gives the share of boxes that passed Quality, 82.4%.
QUALITY: dict[Stage, float] = {
    Stage.LINKS: 0.906,
    Stage.VERIFICATION: 0.906,
    Stage.REQUIREMENT: 0.884,
    Stage.DRAWING: 0.824,
    Stage.QUALITY: 0.880,
    Stage.COVERAGE: 0.892,
}


def drawing_accuracy(approved: float, judges: float) -> float:
    """Return how often drawings are right, if judges of that accuracy approve that share.

    approved = accuracy · judges + (1 − accuracy) · (1 − judges), solved for the accuracy.

    >>> round(drawing_accuracy(0.824, 0.88), 3)
    0.926
    """
    return (approved - (1 - judges)) / (2 * judges - 1)


class Profile(msgspec.Struct, frozen=True):
    """How often workers are right at each stage, and how much they differ among themselves."""

    accuracy: dict[Stage, float]
    # A worker's own accuracy lies at most this far from the average.
    spread: float = 0.0
    # A good box is off by up to this share of its width and height at each edge.
    jitter: float = 0.0
    # Of wrong drawings, the share that miss a thing instead of drawing it badly.
    missed: float = 0.25


PERFECT = Profile(accuracy=dict.fromkeys(Stage, 1.0))
TYPICAL = Profile(
    accuracy=QUALITY
    | {Stage.DRAWING: drawing_accuracy(QUALITY[Stage.DRAWING], QUALITY[Stage.QUALITY])},
    spread=0.04,
    jitter=0.03,
)


class Crowd:
    """A pool of workers, given by their numbers; only their places in the list matter."""

    def __init__(self, workers: list[int], profile: Profile, seed: int) -> None:
        self.workers = workers
        self._place = {worker: place for place, worker in enumerate(workers)}
        self.profile = profile
        self.seed = seed

    def choose_worker(self, state: ImageState, question: Question, image: str) -> int | None:
        """Return a worker who may answer the question, or None if nobody may."""
        start = self._random(image, question.key).randrange(len(self.workers))
        for worker in self.workers[start:] + self.workers[:start]:
            if may_answer(state, question, worker):
                return worker
        return None

    def judge(
        self, state: ImageState, question: Question, key: AnswerKey, *, worker: int, image: str
    ) -> Judgment:
        """Return the worker's answer: the right one, or a wrong one as often as they err."""
        random = self._random(image, question.key, self._place[worker])
        right = key.answer(state, question)
        is_right = random.random() < self._accuracy(worker, question.stage)
        if question.stage is Stage.DRAWING:
            answer, rect = self._draw(state, question, key, random, is_right=is_right)
            return Judgment(worker=worker, question=question, answer=answer, rect=rect)
        answer = right if is_right else _wrong(question.stage, right, random)
        return Judgment(worker=worker, question=question, answer=answer)

    def _accuracy(self, worker: int, stage: Stage) -> float:
        spread = self.profile.spread
        own = self._random(self._place[worker], stage.value).uniform(-spread, spread)
        return self.profile.accuracy[stage] + own

    def _draw(
        self,
        state: ImageState,
        question: Question,
        key: AnswerKey,
        random: Random,
        *,
        is_right: bool,
    ) -> tuple[str, Rect | None]:
        chain = question.subject[0]
        missing = key.missing(state, chain)
        if is_right:
            if not missing:
                return NONE_NEEDED, None
            return BOX, _jitter(missing[0], self.profile.jitter, state, random)
        if missing and random.random() < self.profile.missed:
            return NONE_NEEDED, None
        return BOX, _bad_box(state, chain, missing, key, random)

    def _random(self, *about: int | str) -> Random:
        return Random("/".join(str(part) for part in (self.seed, *about)))


def _wrong(stage: Stage, right: str, random: Random) -> str:
    if stage is Stage.REQUIREMENT and right != BOX:
        return BOX
    if stage is Stage.REQUIREMENT:
        return random.choice((SCENE, NOBOX))
    return next(answer for answer in ANSWERS[stage] if answer != right)


def _bad_box(
    state: ImageState, chain: int, missing: list[Rect], key: AnswerKey, random: Random
) -> Rect:
    """Return a loose box, a misplaced one, or one round the wrong thing."""
    drawn = [box.rect for box in accepted_boxes(state, chain)]
    kind = random.choice(("loose", "misplaced", "wrong thing"))
    if missing and kind == "loose":
        rect = missing[0]
        by = random.uniform(0.2, 0.5)
        return _clip(rect, -by, -by, by, by, state)
    if missing and kind == "misplaced":
        by = random.choice((-1, 1)) * random.uniform(0.3, 0.7)
        return _clip(missing[0], by, by / 2, by, by / 2, state)
    # Where nothing is missing, the wrong box is one more round a thing that has one.
    things = drawn or key.all_rects or [Rect(1, 1, state.width, state.height)]
    rect = random.choice(things)
    by = random.uniform(0.0, 0.1)
    return _clip(rect, -by, -by, by, by, state)


def _jitter(rect: Rect, jitter: float, state: ImageState, random: Random) -> Rect:
    if not jitter:
        return rect
    left, top, right, bottom = (random.uniform(-jitter, jitter) for _ in range(4))
    return _clip(rect, left, top, right, bottom, state)


def _clip(
    rect: Rect, left: float, top: float, right: float, bottom: float, state: ImageState
) -> Rect:
    """Move the edges by shares of the box's size, and stay inside the image."""
    xmin = min(max(1, rect.xmin + round(left * rect.width)), state.width)
    ymin = min(max(1, rect.ymin + round(top * rect.height)), state.height)
    xmax = min(max(xmin, rect.xmax + round(right * rect.width)), state.width)
    ymax = min(max(ymin, rect.ymax + round(bottom * rect.height)), state.height)
    return Rect(xmin, ymin, xmax, ymax)
