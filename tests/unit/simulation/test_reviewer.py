"""The simulated reviewer: whatever the crowd left to reviewers ends as the answer key has it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.engine import apply, open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    Decision,
    Fact,
    ImportedBox,
    ImportedChain,
    SendTo,
    Target,
)
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import (
    SETTLED,
    ImageState,
    Phase,
    accepted_boxes,
    chain_of,
    unplaced,
)
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.reviewer import review
from tests.unit.gold.gold_images import gold_images, guess_to_the_end
from tests.unit.protocol.images import REVIEWER, Session

LEFT, RIGHT = Rect(1, 1, 30, 30), Rect(51, 1, 80, 30)


def decided(state: ImageState, decisions: list[Decision]) -> ImageState:
    for decision in decisions:
        state = apply(state, Fact(state.facts + 1, Settings(), decision))
    return state


@settings(max_examples=40, deadline=None)
@given(gold_images(), st.integers(0, 999))
def test_what_was_in_review_is_what_the_answer_key_says(
    drawn: tuple[ImageState, AcceptedImport], seed: int
) -> None:
    state, gold = drawn
    key = AnswerKey(gold)
    before = guess_to_the_end(state, seed)
    after = decided(before, review(before, key, Settings()))
    assert open_questions(after) == []
    assert all(chain.phase in SETTLED for chain in after.chains)
    in_review = [n for c in before.chains if c.phase is Phase.REVIEW for n in c.mentions]
    for mention in in_review:
        chain = chain_of(after, mention)
        assert chain is not None
        thing = key.chain_of[mention]
        assert {key.chain_of[n] for n in chain.mentions} == {thing}
        boxes = accepted_boxes(after, chain.number)
        assert len(boxes) == len(key.rects_of(thing))
        assert key.missing(after, chain.number) == []
        if not boxes:
            assert (chain.scene, chain.nobndbox) == key.flags_of(thing)
    for chain in before.chains:
        # What the crowd had settled about other things is nobody's business here.
        things = {key.chain_of[n] for n in chain.mentions}
        if not things.intersection(key.chain_of[n] for n in in_review):
            assert chain in after.chains


def test_a_chain_of_two_things_is_split_and_each_part_boxed() -> None:
    gold = AcceptedImport(
        chains=(ImportedChain((1,)), ImportedChain((2,)), ImportedChain((3,), nobndbox=True)),
        boxes=(ImportedBox((1,), LEFT), ImportedBox((2,), RIGHT)),
    )
    session = Session("[people A man] .", "[people A boy] .", "[people Nobody] .")
    session.say("links/2-1/1", "yes")
    session.say("links/3-1/1", "yes")
    session.say("verification/1/1", "true")
    session.apply(SendTo(reviewer=REVIEWER, chain=1, target=Target.REVIEW))
    decisions = review(session.state, AnswerKey(gold), Settings())
    after = decided(session.state, decisions)
    boxes = {c.mentions: [b.rect for b in accepted_boxes(after, c.number)] for c in after.chains}
    assert boxes == {(1,): [LEFT], (2,): [RIGHT], (3,): []}
    assert after.is_finished


def test_a_tight_box_stays_and_a_loose_one_is_drawn_anew() -> None:
    gold = AcceptedImport(
        chains=(ImportedChain((1,)),), boxes=(ImportedBox((1,), LEFT), ImportedBox((1,), RIGHT))
    )
    session = Session("[people Two men] .")
    tight, loose = Rect(1, 1, 30, 27), Rect(51, 1, 80, 60)
    session.say("drawing/1/1", "box", rect=tight)
    session.say("quality/1/1", "good")
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "box", rect=loose)
    session.say("quality/2/1", "good")
    session.apply(SendTo(reviewer=REVIEWER, chain=1, target=Target.REVIEW))
    after = decided(session.state, review(session.state, AnswerKey(gold), Settings()))
    assert [box.rect for box in accepted_boxes(after, 1)] == [tight, RIGHT]


def test_nothing_in_review_nothing_decided() -> None:
    session = Session("[people A man] .")
    assert review(session.state, AnswerKey(AcceptedImport((), ())), Settings()) == []


@settings(max_examples=30, deadline=None)
@given(gold_images(), st.integers(0, 999), st.integers(0, 40))
def test_when_the_crowd_is_done_all_is_settled_but_mentions_without_a_chain(
    drawn: tuple[ImageState, AcceptedImport], seed: int, answers: int
) -> None:
    state, gold = drawn
    key = AnswerKey(gold)
    before = guess_to_the_end(state, seed, answers)
    later = decided(before, review(before, key, Settings()))
    assert all(chain.phase is not Phase.REVIEW for chain in later.chains)
    after = decided(before, review(before, key, Settings(), crowd_is_done=True))
    assert {question.stage for question in open_questions(after)} <= {Stage.LINKS}
    left = [chain for chain in after.chains if chain.phase not in SETTLED]
    assert not left or unplaced(after)
    if not unplaced(after):
        assert after.is_finished


def test_a_flagged_caption_is_what_the_answer_key_says_of_it() -> None:
    gold = AcceptedImport(
        chains=(ImportedChain((1,)), ImportedChain((2,))),
        boxes=(ImportedBox((1,), LEFT), ImportedBox((2,), RIGHT)),
        unrelated=(2,),
    )
    session = Session("[people A man] .", "[animals A dog] .")
    session.say("drawing/1/1", "box", rect=LEFT, unrelated=(1, 2))
    session.say("quality/1/1", "good", unrelated=(1, 2))
    assert session.open == []
    decisions = review(session.state, AnswerKey(gold), Settings(), crowd_is_done=True)
    after = decided(session.state, decisions)
    assert {flags.caption: flags.unrelated for flags in after.flags} == {1: False, 2: True}
    assert after.is_finished
