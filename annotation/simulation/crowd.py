"""Simulated workers: seeded, independent, and wrong as often as the supplement's.

Every choice is drawn from the seed and its subject, not from a running sequence: the same seed
gives the same judgments in any order, and an interrupted run continues as if it had not been
interrupted.
"""

from collections.abc import Sequence
from random import Random

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import (
    BOX,
    NOBOX,
    NONE_NEEDED,
    SCENE,
    Question,
    Stage,
)
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import ImageState, accepted_boxes
from annotation.simulation.answer_key import AnswerKey

# For Drawing this is the share of boxes that passed Quality.
QUALITY: dict[Stage, float] = {stage: spec_of(stage).average_accuracy for stage in Stage}


def drawing_accuracy(approved: float, judges: float) -> float:
    """Return how often drawings are right if judges of this accuracy approve this share.

    approved = accuracy · judges + (1 − accuracy) · (1 − judges), solved for the accuracy.

    >>> round(drawing_accuracy(0.824, 0.88), 3)
    0.926
    """
    return (approved - (1 - judges)) / (2 * judges - 1)


class Profile(msgspec.Struct, frozen=True):
    """How often workers are right at each stage, and how much they differ from each other."""

    accuracy: dict[Stage, float]
    # A worker's own accuracy is at most this far from the average.
    spread: float = 0.0
    # A good box is off by up to this share of its width and height at each edge.
    jitter: float = 0.0
    # The share of wrong drawings that miss an object instead of drawing it badly.
    missed: float = 0.25


PERFECT = Profile(accuracy=dict.fromkeys(Stage, 1.0))
TYPICAL = Profile(
    accuracy=QUALITY
    | {Stage.DRAWING: drawing_accuracy(QUALITY[Stage.DRAWING], QUALITY[Stage.QUALITY])},
    spread=0.04,
    jitter=0.03,
)


class Person:
    """One simulated worker, identified by their place in the crowd.

    The same seed, place and question give the same answer, whoever asks and in whatever order.
    """

    def __init__(self, place: int, profile: Profile, seed: int) -> None:
        self.place = place
        self.profile = profile
        self.seed = seed

    def accuracy(self, stage: Stage) -> float:
        """Return how often this worker is right: always close to the average."""
        spread = self.profile.spread
        own = draws(self.seed, self.place, stage.value).uniform(-spread, spread)
        return self.profile.accuracy[stage] + own

    def answer(
        self, state: ImageState, question: Question, key: AnswerKey, image: str
    ) -> tuple[str, Rect | None]:
        """Answer an open question: the right answer, or a wrong one as often as they err."""
        random = draws(self.seed, image, question.key, self.place)
        right = key.answer(state, question)
        is_right = random.random() < self.accuracy(question.stage)
        if question.stage is Stage.DRAWING:
            return self._draw(state, question, key, random, is_right=is_right)
        return (right if is_right else _wrong(question.stage, right, random)), None

    def answer_known(self, stage: Stage, right: str, about: str) -> str:
        """Answer a question whose right answer is given; not for boxes to be drawn."""
        random = draws(self.seed, about, self.place)
        is_right = random.random() < self.accuracy(stage)
        return right if is_right else _wrong(stage, right, random)

    def draw_known(
        self, expected: Sequence[Rect], size: tuple[int, int], about: str
    ) -> tuple[str, Rect | None]:
        """Draw one of the expected boxes, or say that none is needed if none is expected."""
        random = draws(self.seed, about, self.place)
        frame = Rect(1, 1, *size)
        if random.random() < self.accuracy(Stage.DRAWING):
            if not expected:
                return NONE_NEEDED, None
            return BOX, _jitter(expected[0], self.profile.jitter, frame, random)
        if expected and random.random() < self.profile.missed:
            return NONE_NEEDED, None
        return BOX, _bad_box(expected, (), (), frame, random)

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
        frame = Rect(1, 1, state.width, state.height)
        missing = key.missing(state, chain)
        if is_right:
            if not missing:
                return NONE_NEEDED, None
            return BOX, _jitter(missing[0], self.profile.jitter, frame, random)
        if missing and random.random() < self.profile.missed:
            return NONE_NEEDED, None
        drawn = [box.rect for box in accepted_boxes(state, chain)]
        return BOX, _bad_box(missing, drawn, key.all_rects, frame, random)


class Crowd:
    """A pool of workers, given by their numbers; only their places in the list matter."""

    def __init__(self, workers: list[int], profile: Profile, seed: int) -> None:
        self.workers = workers
        self.seed = seed
        self._people = {
            worker: Person(place, profile, seed) for place, worker in enumerate(workers)
        }

    def choose_worker(self, state: ImageState, question: Question, image: str) -> int | None:
        """Return a worker who may answer the question, or None if nobody may."""
        start = draws(self.seed, image, question.key).randrange(len(self.workers))
        for worker in self.workers[start:] + self.workers[:start]:
            if may_answer(state, question, worker):
                return worker
        return None

    def judge(
        self, state: ImageState, question: Question, key: AnswerKey, *, worker: int, image: str
    ) -> Judgment:
        """Return the worker's judgment on an open question."""
        answer, rect = self._people[worker].answer(state, question, key, image)
        return Judgment(worker=worker, question=question, answer=answer, rect=rect)


def draws(seed: int, *about: int | str) -> Random:
    """Return the random numbers for one subject: the same ones every time."""
    return Random("/".join(str(part) for part in (seed, *about)))


def spam(stage: Stage, size: tuple[int, int], random: Random) -> tuple[str, Rect | None]:
    """Answer at random without looking, with a box anywhere."""
    answer = random.choice(spec_of(stage).answers)
    if stage is not Stage.DRAWING or answer != BOX:
        return answer, None
    width, height = size
    left, top = random.randint(1, width), random.randint(1, height)
    return answer, Rect(left, top, random.randint(left, width), random.randint(top, height))


def _wrong(stage: Stage, right: str, random: Random) -> str:
    if stage is Stage.REQUIREMENT and right != BOX:
        return BOX
    if stage is Stage.REQUIREMENT:
        return random.choice((SCENE, NOBOX))
    return next(answer for answer in spec_of(stage).answers if answer != right)


def _bad_box(
    missing: Sequence[Rect],
    drawn: Sequence[Rect],
    things: Sequence[Rect],
    frame: Rect,
    random: Random,
) -> Rect:
    """Return a loose box, a misplaced one, or one around the wrong object."""
    kind = random.choice(("loose", "misplaced", "wrong thing"))
    if missing and kind == "loose":
        by = random.uniform(0.2, 0.5)
        return _clip(missing[0], -by, -by, by, by, frame)
    if missing and kind == "misplaced":
        by = random.choice((-1, 1)) * random.uniform(0.3, 0.7)
        return _clip(missing[0], by, by / 2, by, by / 2, frame)
    # If nothing is missing, the wrong box is a second one around an object that has one.
    rect = random.choice(list(drawn or things or [frame]))
    by = random.uniform(0.0, 0.1)
    return _clip(rect, -by, -by, by, by, frame)


def _jitter(rect: Rect, jitter: float, frame: Rect, random: Random) -> Rect:
    if not jitter:
        return rect
    left, top, right, bottom = (random.uniform(-jitter, jitter) for _ in range(4))
    return _clip(rect, left, top, right, bottom, frame)


def _clip(rect: Rect, left: float, top: float, right: float, bottom: float, frame: Rect) -> Rect:
    """Move the edges by shares of the box's size, and stay inside the image."""
    xmin = min(max(1, rect.xmin + round(left * rect.width)), frame.xmax)
    ymin = min(max(1, rect.ymin + round(top * rect.height)), frame.ymax)
    xmax = min(max(xmin, rect.xmax + round(right * rect.width)), frame.xmax)
    ymax = min(max(ymin, rect.ymax + round(bottom * rect.height)), frame.ymax)
    return Rect(xmin, ymin, xmax, ymax)
