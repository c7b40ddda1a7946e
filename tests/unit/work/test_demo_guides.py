"""The demo campaign's lessons: complete, and correct by its corpus's gold chains and boxes."""

from functools import cache
from pathlib import Path

import pytest

import annotation
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.corpus.importers import read_corpus
from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.protocol.facts import ImportedChain
from annotation.pipeline.protocol.questions import BOX, GOOD, TRUE, YES, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.guides import (
    Lesson,
    StageGuide,
    guide_file,
    is_right,
    lesson_shown,
    read_consent,
    read_stage_guide,
    shipped_consent,
    shipped_guide,
)

DEMO = Path(annotation.__file__).parent / "demo"
LESSONS = [
    pytest.param(stage, place, id=f"{stage.value}-{place.replace(' ', '-')}")
    for stage in Stage
    for place, _ in read_stage_guide(
        (DEMO / "guides" / guide_file(stage.value)).read_text(encoding="utf-8"),
        stage,
        shipped_guide(stage),
    ).lessons()
]
BOX_LESSONS = [p for p in LESSONS if p.values[0] not in (Stage.LINKS, Stage.VERIFICATION)]


@cache
def guide(stage: Stage) -> StageGuide:
    source = (DEMO / "guides" / guide_file(stage.value)).read_text(encoding="utf-8")
    return read_stage_guide(source, stage, shipped_guide(stage))


@cache
def corpus() -> dict[str, CorpusImage]:
    found = {}
    for image in read_corpus(DEMO, "entities", with_annotation=True):
        assert isinstance(image, CorpusImage)
        found[image.name] = image
    return found


def chains(lesson: Lesson, stage: Stage) -> list[int]:
    """Return the position of the gold chain of every marked phrase, which must be a mention."""
    image = corpus()[lesson.image]
    assert image.annotation is not None
    assert image.mentions is not None
    captions = {caption.number: caption for caption in image.captions}
    shown = lesson_shown(lesson, stage, captions, image.width, image.height)
    spans = {(m.caption, m.start, m.end): m.number for m in image.mentions}
    of = {
        mention: position
        for position, chain in enumerate(image.annotation.chains, start=1)
        for mention in chain.mentions
    }
    return [of[spans[mark.caption, mark.start, mark.end]] for mark in shown.marks]


def gold(lesson: Lesson, stage: Stage) -> tuple[ImportedChain, set[Rect]]:
    """Return the gold chain of a lesson with one phrase, and its boxes."""
    (position,) = chains(lesson, stage)
    annotated = corpus()[lesson.image].annotation
    assert annotated is not None
    rects = {box.rect for box in annotated.boxes if position in box.chains}
    return annotated.chains[position - 1], rects


def lesson_at(stage: Stage, place: str) -> Lesson:
    return dict(guide(stage).lessons())[place]


@pytest.mark.parametrize("stage", Stage)
def test_there_are_enough_for_every_answer(stage: Stage) -> None:
    found = guide(stage)
    assert 3 <= len(found.examples) <= 5
    assert 5 <= len(found.test) <= 8
    for lessons in (found.examples, found.test):
        assert {lesson.answer for lesson in lessons} == set(spec_of(stage).answers)
    # Who always gives the same answer does not pass.
    for answer in spec_of(stage).answers:
        right = sum(is_right(lesson, stage, answer, None, 0.7) for lesson in found.test)
        assert right / len(found.test) < Settings().minimum_performance[stage]


@pytest.mark.parametrize("stage", Stage)
def test_no_question_is_asked_twice(stage: Stage) -> None:
    asked = [
        (lesson.image, lesson.captions, lesson.boxes, lesson.candidate)
        for _, lesson in guide(stage).lessons()
    ]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(("stage", "place"), LESSONS)
def test_reasons_are_a_sentence_or_two(stage: Stage, place: str) -> None:
    why = lesson_at(stage, place).why
    assert why.endswith(".")
    assert 20 <= len(why) <= 200


@pytest.mark.parametrize("lesson", guide(Stage.LINKS).examples + guide(Stage.LINKS).test)
def test_links_are_those_of_gold(lesson: Lesson) -> None:
    first, second = chains(lesson, Stage.LINKS)
    assert (first == second) == (lesson.answer == YES)


@pytest.mark.parametrize(
    "lesson", guide(Stage.VERIFICATION).examples + guide(Stage.VERIFICATION).test
)
def test_chains_are_those_of_gold(lesson: Lesson) -> None:
    assert (len(set(chains(lesson, Stage.VERIFICATION))) == 1) == (lesson.answer == TRUE)


@pytest.mark.parametrize(("stage", "place"), BOX_LESSONS)
def test_boxes_are_those_of_gold(stage: Stage, place: str) -> None:
    lesson = lesson_at(stage, place)
    chain, rects = gold(lesson, stage)
    boxes = set(lesson.boxes)
    assert boxes <= rects
    match stage:
        case Stage.REQUIREMENT:
            flags = {"box": bool(rects), "scene": chain.scene, "nobox": chain.nobndbox}
            assert [answer for answer, is_so in flags.items() if is_so] == [lesson.answer]
        case Stage.DRAWING:
            assert set(lesson.expected) == rects - boxes
            assert (lesson.answer == BOX) == bool(rects - boxes)
        case Stage.QUALITY:
            assert lesson.candidate is not None
            missing = max((iou(lesson.candidate, rect) for rect in rects - boxes), default=0.0)
            covered = max((iou(lesson.candidate, rect) for rect in boxes), default=0.0)
            if lesson.answer == GOOD:
                assert lesson.candidate in rects - boxes
            else:
                # Plainly bad: a box that one can argue about teaches nothing.
                assert missing < 0.75
                assert covered == 0 or covered > 0.85
        case Stage.COVERAGE:
            assert boxes
            assert (lesson.answer == YES) == (boxes == rects)


def test_the_bad_boxes_are_bad_for_every_reason() -> None:
    kinds = set()
    for lesson in guide(Stage.QUALITY).examples:
        if lesson.answer == GOOD:
            continue
        _, rects = gold(lesson, Stage.QUALITY)
        assert lesson.candidate is not None
        held = [r for r in rects if iou(lesson.candidate, r) > 0.05]
        if any(iou(lesson.candidate, rect) > 0.85 for rect in lesson.boxes):
            kinds.add("already covered")
        elif lesson.why.startswith("Not the thing"):
            kinds.add("not the thing")
        else:
            kinds.add("several things" if len(held) > 1 else "not tight")
    assert kinds == {"already covered", "not the thing", "several things", "not tight"}


@pytest.mark.parametrize("lesson", guide(Stage.DRAWING).examples + guide(Stage.DRAWING).test)
def test_gold_passes_the_drawing_test_and_the_whole_photo_does_not(lesson: Lesson) -> None:
    needed = Settings().test_iou
    image = corpus()[lesson.image]
    for rect in lesson.expected:
        assert is_right(lesson, Stage.DRAWING, BOX, rect, needed)
    whole = Rect(1, 1, image.width, image.height)
    assert not is_right(lesson, Stage.DRAWING, BOX, whole, needed)


def test_the_consent_text_is_the_demos_own() -> None:
    consent = read_consent((DEMO / "guides" / "consent.toml").read_text(encoding="utf-8"))
    assert consent != shipped_consent()
    # Nothing is left to be filled in.
    assert "[" not in "".join(consent.paragraphs)


def test_the_documentations_example_is_a_guide() -> None:
    page = (DEMO.parents[1] / "docs" / "guides.md").read_text(encoding="utf-8")
    source = page.split("```toml\n")[1].split("```")[0]
    told = read_stage_guide(source, Stage.QUALITY)
    assert set(told.examples) <= set(guide(Stage.QUALITY).examples)
    assert set(told.test) <= set(guide(Stage.QUALITY).test)
