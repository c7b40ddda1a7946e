"""What a stage is: one `StageSpec` for each of the six crowd tasks, the only such table.

The text that workers read about a stage (question, guidelines, examples, test) is its guide, a file
in `annotation/guides/`. `stages/` has one module per stage that handles the answers.
"""

from enum import StrEnum
from typing import assert_never

import msgspec

from annotation.pipeline.mentions.mention import BODYPARTS, CLOTHING, PEOPLE
from annotation.pipeline.protocol.questions import (
    BAD,
    BOX,
    FALSE,
    GOOD,
    NO,
    NOBOX,
    NONE_NEEDED,
    SCENE,
    TRUE,
    YES,
    Stage,
)


class Subject(StrEnum):
    """What a question is about, and so what the numbers of its subject are."""

    MENTIONS = "mentions"
    CHAIN = "chain"
    BOX = "box"


class StageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the other modules need to know about a stage.

    The numbers are the paper's (supplement, Table 1), except the prices. A campaign's settings may
    replace the questions per HIT, the minimum accuracy, the price and the skipped types.
    """

    title: str
    # What is asked, in one sentence for researchers; {0} and {1} stand for the subject.
    question: str
    subject: Subject
    answers: tuple[str, ...]
    is_about_boxes: bool

    # A HIT: how many questions it has, how long workers took, what it pays (at $12 an hour), and
    # the keywords by which workers find it.
    questions_per_hit: int
    seconds_per_hit: int
    price_cents: int
    keywords: str

    # The share of right answers that a worker must reach and keep, and the share that the paper's
    # workers reached. For Drawing the latter is the share of boxes that passed Quality.
    minimum_accuracy: float
    average_accuracy: float

    # Whether there are questions with known answers. Drawing has none: Quality judges its boxes.
    has_gold: bool = True

    # What a worker sees: how many marked phrases (exactly or at least), all captions or only those
    # with a marked phrase, the chain's boxes, and the box that the question is about.
    phrases: int = 1
    has_more_phrases: bool = False
    shows_all_captions: bool = False
    shows_boxes: bool = False
    needs_boxes: bool = False
    shows_candidate: bool = False

    # The answer that comes with a rectangle, and the answer that may come with reasons.
    drawn_answer: str | None = None
    explained_answer: str | None = None

    # Chains with a mention of these types skip the stage.
    skipped_types: tuple[str, ...] = ()

    @property
    def seconds_per_question(self) -> float:
        return self.seconds_per_hit / self.questions_per_hit

    def draws(self, answer: str) -> bool:
        """Tell whether an answer comes with a rectangle."""
        return self.drawn_answer is not None and answer == self.drawn_answer


_LINKS = StageSpec(
    title="Coreference Links",
    question="Do {0} and {1} refer to the same thing?",
    subject=Subject.MENTIONS,
    answers=(YES, NO),
    is_about_boxes=False,
    questions_per_hit=10,
    seconds_per_hit=75,
    price_cents=25,
    keywords="compare, phrases",
    minimum_accuracy=0.8,
    average_accuracy=0.906,
    phrases=2,
)

_VERIFICATION = StageSpec(
    title="Chain Verification",
    question="Do all phrases of {0} refer to the same thing?",
    subject=Subject.CHAIN,
    answers=(TRUE, FALSE),
    is_about_boxes=False,
    questions_per_hit=5,
    seconds_per_hit=95,
    price_cents=32,
    keywords="check, phrases",
    minimum_accuracy=0.83,
    average_accuracy=0.906,
    phrases=2,
    has_more_phrases=True,
    shows_all_captions=True,
)

_REQUIREMENT = StageSpec(
    title="Box Requirement",
    question="Can a box be drawn for {0}?",
    subject=Subject.CHAIN,
    answers=(BOX, SCENE, NOBOX),
    is_about_boxes=True,
    questions_per_hit=10,
    seconds_per_hit=81,
    price_cents=27,
    keywords="categorise, boxes",
    minimum_accuracy=0.83,
    average_accuracy=0.884,
    skipped_types=(PEOPLE, CLOTHING, BODYPARTS),
)

_DRAWING = StageSpec(
    title="Box Drawing",
    question="Draw one more box for {0}",
    subject=Subject.CHAIN,
    answers=(BOX, NONE_NEEDED),
    is_about_boxes=True,
    questions_per_hit=5,
    seconds_per_hit=134,
    price_cents=45,
    keywords="draw, boxes",
    minimum_accuracy=0.7,
    average_accuracy=0.824,
    has_gold=False,
    shows_boxes=True,
    drawn_answer=BOX,
)

_QUALITY = StageSpec(
    title="Box Quality",
    question="Is {0} good?",
    subject=Subject.BOX,
    answers=(GOOD, BAD),
    is_about_boxes=True,
    questions_per_hit=10,
    seconds_per_hit=110,
    price_cents=37,
    keywords="check, boxes",
    minimum_accuracy=0.78,
    average_accuracy=0.880,
    shows_boxes=True,
    shows_candidate=True,
    explained_answer=BAD,
)

_COVERAGE = StageSpec(
    title="Box Coverage",
    question="Have all boxes of {0} been drawn?",
    subject=Subject.CHAIN,
    answers=(YES, NO),
    is_about_boxes=True,
    questions_per_hit=10,
    seconds_per_hit=91,
    price_cents=31,
    keywords="check, count, boxes",
    minimum_accuracy=0.8,
    average_accuracy=0.892,
    shows_boxes=True,
    needs_boxes=True,
)


def spec_of(stage: Stage) -> StageSpec:
    """Return the spec of a stage.

    >>> spec_of(Stage.DRAWING).title
    'Box Drawing'
    """
    match stage:
        case Stage.LINKS:
            return _LINKS
        case Stage.VERIFICATION:
            return _VERIFICATION
        case Stage.REQUIREMENT:
            return _REQUIREMENT
        case Stage.DRAWING:
            return _DRAWING
        case Stage.QUALITY:
            return _QUALITY
        case Stage.COVERAGE:
            return _COVERAGE
        case _:
            assert_never(stage)


# Stages with gold questions.
GOLD_STAGES = tuple(stage for stage in Stage if spec_of(stage).has_gold)
