"""Facts and questions in plain words, and the bars: no database needed."""

import typing
from itertools import pairwise

import pytest

from annotation.dashboard.bars import FULL, per_cent, stacked
from annotation.dashboard.words import PHASES, STAGES, STATUSES, fact_words, question_words
from annotation.models import ImageStatus
from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import begin
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import PEOPLE, Mention
from annotation.pipeline.protocol import facts
from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import ImageState, Phase

RECT = Rect(1, 1, 10, 20)
DECISIONS: list[tuple[facts.Body, str]] = [
    (
        facts.FixSpan(reviewer=3, mention=1, start=1, end=2),
        "set the span of “A man” to words 2 to 2",
    ),
    (facts.Retype(reviewer=3, mention=1, types=("animals",)), "gave “A man” the type animals"),
    (facts.Split(reviewer=3, chain=1, mentions=(1,)), "split 1 phrase off chain 1 (“A man”)"),
    (facts.Join(reviewer=3, chains=(1, 9)), "joined chain 1 (“A man”) and chain 9"),
    (
        facts.BoxAdd(reviewer=3, chain=1, rect=RECT),
        "added a box of 10 × 20 pixels to chain 1 (“A man”)",
    ),
    (facts.BoxAdjust(reviewer=3, box=4, rect=RECT), "adjusted box 4 to 10 × 20 pixels"),
    (facts.BoxDelete(reviewer=3, box=4), "deleted box 4"),
    (
        facts.NoBox(reviewer=3, chain=1, scene=True, nobndbox=False),
        "settled chain 1 (“A man”) as the scene or a place",
    ),
    (
        facts.CaptionUnrelated(reviewer=3, caption=1, unrelated=False),
        "decided that caption 1 is about the photo",
    ),
    (
        facts.SendTo(reviewer=3, chain=1, target=facts.Target.DRAWING, reason="loose"),
        "sent chain 1 (“A man”) back to Box Drawing: loose",
    ),
    (facts.Undo(reviewer=3, decision=8), "undid decision 8"),
]


@pytest.fixture
def state() -> ImageState:
    caption = Caption(number=1, tokens=("A", "man", "waits"))
    mention = Mention(number=1, caption=1, start=0, end=2, types=(PEOPLE,))
    return begin([caption], [mention], width=60, height=40, settings=Settings())


@pytest.mark.parametrize(("body", "words"), DECISIONS, ids=lambda value: type(value).__name__)
def test_decisions(body: facts.Body, words: str, state: ImageState) -> None:
    assert fact_words(body, state) == f"Reviewer 3 {words}"
    assert "man" not in fact_words(body, None), "nothing is left of a withdrawn image's captions"


def test_every_kind_of_decision_is_tried_above() -> None:
    tried = {type(body) for body, _ in DECISIONS}
    assert tried == {*typing.get_args(facts.Decision), facts.Undo}


QUESTIONS = {
    Stage.LINKS: "Do “A man” and phrase 5 refer to the same thing?",
    Stage.VERIFICATION: "Do all phrases of chain 1 (“A man”) refer to the same thing?",
    Stage.REQUIREMENT: "Can a box be drawn for chain 1 (“A man”)?",
    Stage.DRAWING: "Draw one more box for chain 1 (“A man”)",
    Stage.QUALITY: "Is box 1 good?",
    Stage.COVERAGE: "Have all boxes of chain 1 (“A man”) been drawn?",
}


@pytest.mark.parametrize("stage", Stage)
def test_judgments_and_questions(stage: Stage, state: ImageState) -> None:
    subject = (1, 5) if stage is Stage.LINKS else (1,)
    said = set()
    for answer in spec_of(stage).answers:
        rect = RECT if (stage, answer) == (Stage.DRAWING, "box") else None
        body = facts.Judgment(
            worker=12,
            question=Question(stage=stage, subject=subject),
            answer=answer,
            rect=rect,
            cut_wrongly=(1,),
        )
        words = fact_words(body, state)
        assert words.startswith("Worker 12 ")
        assert words.endswith("; reported a wrong span for “A man”")
        said.add(words)
        assert "man" not in fact_words(body, None)
    assert len(said) == len(spec_of(stage).answers), "every answer reads differently"
    asked = question_words(Question(stage=stage, subject=subject), state)
    assert asked == QUESTIONS[stage]
    again = question_words(Question(stage=stage, subject=subject, doubted=4), state)
    assert again == f"{asked} (asked again because an answer was doubted)"


def test_imports_and_doubts() -> None:
    accepted = facts.AcceptedImport(
        chains=(facts.ImportedChain(mentions=(1,)),),
        boxes=(facts.ImportedBox(chains=(1,), rect=RECT),) * 2,
    )
    assert fact_words(accepted, None).startswith("The import added 1 chain and 2 boxes")
    doubted = fact_words(facts.Doubt(judgment=4, reason="revoked"), None)
    assert doubted == "Judgment 4 was doubted: revoked"
    system = facts.SendTo(reviewer=0, chain=2, target=facts.Target.REVIEW)
    assert fact_words(system, None) == "The system sent chain 2 to review"


def test_every_status_stage_and_phase_has_a_name() -> None:
    assert set(STATUSES) == set(ImageStatus.values)
    assert set(STAGES) == set(Stage)
    assert set(PHASES) == {phase.value for phase in Phase}


@pytest.mark.parametrize("counts", [(1, 1, 1), (0, 7, 0), (29_999, 1, 783), (1,) * 7])
def test_the_parts_of_a_bar_fill_it(counts: tuple[int, ...]) -> None:
    bar = stacked([("a", "A", count) for count in counts], sum(counts))
    assert sum(part.width for part in bar) == FULL
    assert all(one.x + one.width == two.x for one, two in pairwise(bar))


def test_a_bar_of_nothing() -> None:
    assert [part.width for part in stacked([("a", "A", 0)], 0)] == [0]
    assert per_cent(0, 0) == 0
    assert per_cent(999, 1000) == 99, "not finished yet"
