"""Guessed chains and boxes: always a sensible answer key, and about as many as there are."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import begin
from annotation.pipeline.geometry import iou, rect_problem
from annotation.pipeline.mentions.mention import ENTITY_TYPES, NOT_VISUAL, SCENE, Mention, head_word
from annotation.pipeline.protocol.settings import Settings
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import PERFECT, Crowd
from annotation.simulation.guess import (
    BOXES,
    LEAST_SIDE,
    MOST_BOXES,
    _box_count,
    _rects,
    guess_annotation,
    guess_size,
)
from annotation.simulation.work import work_in_memory

WORDS = ("man", "dog", "hat", "street")


@st.composite
def images(draw: st.DrawFn) -> tuple[list[Caption], list[Mention]]:
    captions: list[Caption] = []
    mentions: list[Mention] = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
        captions.append(Caption(number=number, tokens=tuple(tokens)))
        for start in range(len(tokens)):
            types = draw(
                st.lists(st.sampled_from(ENTITY_TYPES), min_size=1, max_size=2, unique=True)
                | st.just([NOT_VISUAL])
            )
            mentions.append(Mention(len(mentions) + 1, number, start, start + 1, tuple(types)))
    return captions, mentions


sizes = st.tuples(st.integers(LEAST_SIDE, 2000), st.integers(LEAST_SIDE, 2000))


@settings(max_examples=40)
@given(images(), sizes, st.text(max_size=5))
def test_every_visual_mention_has_one_chain_that_the_protocol_could_find(
    image: tuple[list[Caption], list[Mention]], size: tuple[int, int], seed: str
) -> None:
    captions, mentions = image
    guess = guess_annotation(captions, mentions, width=size[0], height=size[1], seed=seed)
    by_number = {mention.number: mention for mention in mentions}
    placed = [number for chain in guess.chains for number in chain.mentions]
    assert sorted(placed) == [m.number for m in mentions if m.is_visual]
    for chain in guess.chains:
        members = [by_number[number] for number in chain.mentions]
        assert len({member.caption for member in members}) == len(members)
        for member in members[1:]:
            assert any(set(member.types) & set(o.types) for o in members if o is not member)
    for number, chain in enumerate(guess.chains, start=1):
        rects = [box.rect for box in guess.boxes if box.chains == (number,)]
        assert bool(rects) != (chain.scene or chain.nobndbox)
        assert all(rect_problem(rect, *size) is None for rect in rects)
        # None can be taken for another, however the crowd draws.
        assert all(iou(a, b) == 0 for a in rects for b in rects if a is not b)
    again = guess_annotation(captions, mentions, width=size[0], height=size[1], seed=seed)
    assert guess == again


@settings(max_examples=20, deadline=None)
@given(images(), st.integers(0, 3))
def test_a_crowd_can_answer_from_it_to_the_end(
    image: tuple[list[Caption], list[Mention]], seed: int
) -> None:
    captions, mentions = image
    guess = guess_annotation(captions, mentions, width=500, height=375, seed=str(seed))
    state = begin(captions, mentions, width=500, height=375, settings=Settings())
    crowd = Crowd(list(range(-12, 0)), PERFECT, seed)
    state, _ = work_in_memory(state, AnswerKey(guess), crowd, "image", Settings())
    assert state.is_finished


def test_the_same_head_is_nearly_always_the_same_thing() -> None:
    captions = [Caption(1, ("A", "man")), Caption(2, ("The", "man"))]
    mentions = [Mention(1, 1, 0, 2, ("people",)), Mention(2, 2, 0, 2, ("people",))]
    assert head_word(mentions[0], captions) == "man"
    together = sum(
        len(guess_annotation(captions, mentions, width=99, height=99, seed=str(seed)).chains) == 1
        for seed in range(1000)
    )
    assert 0.90 <= together / 1000 <= 0.96


def test_things_of_other_types_are_never_one() -> None:
    captions = [Caption(1, ("A", "hat")), Caption(2, ("The", "hat"))]
    mentions = [Mention(1, 1, 0, 2, ("clothing",)), Mention(2, 2, 0, 2, ("other",))]
    for seed in range(50):
        guess = guess_annotation(captions, mentions, width=99, height=99, seed=str(seed))
        assert len(guess.chains) == 2


@pytest.mark.parametrize("kind", BOXES)
def test_boxes_are_as_many_as_the_paper_counted(kind: str) -> None:
    random = Random(kind)
    counts = [_box_count(kind, random) for _ in range(20_000)]
    assert sum(counts) / len(counts) == pytest.approx(BOXES[kind].mean, rel=0.04)
    assert counts.count(0) / len(counts) == pytest.approx(BOXES[kind].none, abs=0.01)
    assert max(counts) <= MOST_BOXES


def test_a_scene_without_a_box_is_a_scene() -> None:
    captions = [Caption(1, ("the", "street"))]
    for kind in (SCENE, "other"):
        mentions = [Mention(1, 1, 0, 2, (kind,))]
        for seed in range(30):
            chain = guess_annotation(
                captions, mentions, width=99, height=99, seed=str(seed)
            ).chains[0]
            assert not (chain.scene and kind != SCENE)
            assert not (chain.nobndbox and kind == SCENE)


@pytest.mark.parametrize("count", [0, 1, MOST_BOXES])
def test_even_the_smallest_image_has_room(count: int) -> None:
    rects = _rects(count, LEAST_SIDE, LEAST_SIDE, Random(1))
    assert len(set(rects)) == count
    assert guess_size(0, 0) == guess_size(LEAST_SIDE - 1, 2000) == (500, 375)
    assert guess_size(LEAST_SIDE, 41) == (LEAST_SIDE, 41)
