"""Keeping gold questions good: what they rest on, and what a release knows of an image."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.corpus.corpus_image import (
    CorpusImage,
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.engine import apply
from annotation.pipeline.geometry import Rect
from annotation.pipeline.gold.gold_question import Gold, GoldSource, gold_problem
from annotation.pipeline.gold.known_images import (
    OtherImageError,
    known_image,
    known_release,
)
from annotation.pipeline.gold.maker import make_gold
from annotation.pipeline.gold.upkeep import still_holds, wanted_per_answer
from annotation.pipeline.protocol.facts import (
    Body,
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    Decision,
    Fact,
    FixSpan,
    NoBox,
    Split,
)
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES
from annotation.pipeline.protocol.state import ImageState
from tests.unit.gold.park import (
    DOG,
    PUPPY,
    known_park,
    linked_men,
    made,
    park,
    park_state,
)
from tests.unit.protocol.images import REVIEWER

SETTINGS = Settings()


@cache
def park_gold() -> list[Gold]:
    """All that a few seeds make of the park."""
    return [gold for stage in GOLD_STAGES for gold in made(stage, seeds=10)]


def annotated_park() -> ImageState:
    """The park as an image of ours whose annotation was accepted."""
    return decided(park_state(), annotation_of(park()))


def decided(state: ImageState, body: Body) -> ImageState:
    return apply(state, Fact(number=state.facts + 1, settings=SETTINGS, body=body))


def chain(state: ImageState, mention: int) -> int:
    return next(c.number for c in state.chains if mention in c.mentions)


def box(state: ImageState, rect: Rect) -> int:
    return next(b.number for b in state.boxes if b.rect == rect)


def test_what_was_made_of_an_image_holds_for_it() -> None:
    golds, state = park_gold(), annotated_park()
    assert len({(gold.stage, gold.answer) for gold in golds}) == 11
    assert all(still_holds(gold, state) for gold in golds)


def test_the_other_answer_never_holds() -> None:
    others = {"yes": "no", "no": "yes", "true": "false", "false": "true", "good": "bad"}
    others |= {"bad": "good", "box": "nobox", "scene": "nobox", "nobox": "scene"}
    state = annotated_park()
    for gold in park_gold():
        assert not still_holds(replace(gold, answer=others[gold.answer]), state)


DOGS, BALL = (3, 5, 8), (2, 11)


def decisions(state: ImageState) -> dict[str, tuple[Decision, tuple[int, ...]]]:
    """What a reviewer might change, and the mentions of the chain that it is about."""
    dogs, ball = chain(state, DOGS[0]), chain(state, BALL[0])
    puppy = box(state, PUPPY)
    moved = Rect(290, 200, 390, 295)
    return {
        "split": (Split(reviewer=REVIEWER, chain=dogs, mentions=DOGS[:1]), DOGS),
        "box gone": (BoxDelete(reviewer=REVIEWER, box=puppy), DOGS),
        "box added": (BoxAdd(reviewer=REVIEWER, chain=dogs, rect=Rect(1, 1, 40, 40)), DOGS),
        "box moved": (BoxAdjust(reviewer=REVIEWER, box=puppy, rect=moved), DOGS),
        "span": (FixSpan(reviewer=REVIEWER, mention=DOGS[0], start=8, end=9), DOGS),
        "no box": (NoBox(reviewer=REVIEWER, chain=ball, scene=False, nobndbox=True), BALL),
    }


@pytest.mark.parametrize("what", ["split", "box gone", "box added", "box moved", "span", "no box"])
def test_what_a_reviewer_changed_no_longer_holds(what: str) -> None:
    state = annotated_park()
    decision, mentions = decisions(state)[what]
    after = decided(state, decision)
    golds = park_gold()
    lost = [gold for gold in golds if not still_holds(gold, after)]
    assert lost
    for gold in golds:
        marked = {mark.mention for mark in gold.shown.marks}
        if not marked.intersection(mentions):
            assert gold not in lost
    if what == "split":
        together = [g for g in golds if g.stage is Stage.LINKS and g.answer == "yes"]
        assert [g for g in together if DOGS[0] in {m.mention for m in g.shown.marks}]
        for gold in together:
            marked = {mark.mention for mark in gold.shown.marks}
            assert (gold in lost) == (DOGS[0] in marked)
    if what.startswith("box"):
        assert [g for g in golds if g.stage is Stage.COVERAGE and set(g.shown.boxes) >= DOGS_FULL]
        for gold in golds:
            if gold.stage is Stage.COVERAGE and set(gold.shown.boxes) >= DOGS_FULL:
                assert gold in lost


DOGS_FULL = {DOG, PUPPY}


def test_what_is_doubted_no_longer_holds() -> None:
    session = linked_men()
    known = known_image("men", session.state, {1}, GoldSource.UNANIMOUS)
    golds = [g for stage in GOLD_STAGES for g in make_gold(known, stage, SETTINGS, "s")]
    assert {gold.stage for gold in golds} >= {Stage.LINKS, Stage.VERIFICATION, Stage.COVERAGE}
    assert all(still_holds(gold, session.state) for gold in golds)
    session.doubt(5)  # a vote for completeness
    assert not any(still_holds(gold, session.state) for gold in golds)
    session.say("coverage/1/2?5", "yes", worker=9)
    assert all(still_holds(gold, session.state) for gold in golds)


# How many


@given(st.integers(1, 500), st.integers(0, 1000), st.integers(2, 3))
def test_whoever_has_seen_the_most_finds_enough(needed: int, seen: int, answers: int) -> None:
    wanted = wanted_per_answer(needed, seen, answers)
    assert wanted * answers - seen >= needed
    assert (wanted - 1) * answers - seen < needed


@pytest.mark.parametrize("stage", GOLD_STAGES)
def test_more_of_an_image_begins_with_the_same(stage: Stage) -> None:
    """So that questions can be replaced without asking others twice."""
    few, more = ([g.key for g in make_gold(known_park(), stage, SETTINGS, "s", n)] for n in (1, 2))
    assert set(few) < set(more)


# What a release knows of an image of ours


def of_release() -> CorpusImage:
    image = park()
    return CorpusImage(
        name="park",
        filename="park.jpg",
        captions=captions_of(image.sentences),
        mentions=mentions_of_sentences(image.sentences),
        annotation=annotation_of(image),
        width=400,
        height=300,
    )


def test_a_release_of_the_same_image_in_other_phrases() -> None:
    ours = park_state()
    # We have “dogs” instead of “two dogs”, and know nothing of the ball.
    mentions = [replace(ours.mentions[2], start=8), *ours.mentions[:1], *ours.mentions[3:10]]
    numbered = tuple(replace(m, number=n) for n, m in enumerate(mentions, start=1))
    state = replace(ours, mentions=numbered)
    known = known_release(state, of_release())
    spans = {(m.caption, m.start, m.end): m.number for m in numbered}
    for stage in GOLD_STAGES:
        golds = make_gold(known, stage, SETTINGS, "s", per_answer=20)
        assert golds
        for gold in golds:
            assert gold.source is GoldSource.FILE
            assert gold_problem(gold, state) is None
            for mark in gold.shown.marks:
                # Phrases of the release only would look different to workers: none is asked about.
                assert mark.mention == spans[mark.caption, mark.start, mark.end]
    assert all(chain.mentions for chain in known.chains)
    assert len(known.chains) == 6, "two of the release have no phrase that we have"
    assert known_release(ours, of_release()).chains == known_park().chains


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (replace(park_state(), width=500), "it is 400×300 here but 500×300 in the campaign"),
        (
            replace(park_state(), captions=park_state().captions[:3]),
            "its caption 4 differs from the campaign's",
        ),
    ],
)
def test_another_image_of_the_same_name(state: ImageState, why: str) -> None:
    with pytest.raises(OtherImageError, match=why):
        known_release(state, of_release())
