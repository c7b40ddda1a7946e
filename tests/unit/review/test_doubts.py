"""Doubts: judgments whose author was revoked."""

import pytest

from annotation.pipeline.protocol.facts import BoxAdd, BoxDelete, Decision, NoBox, SendTo, Target
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.protocol.state import BoxStatus, Phase, find_box
from tests.unit.protocol.images import (
    RECT,
    REVIEWER,
    Session,
    boxed_man,
    finished_man,
    one_ball,
    one_man,
)

DISAGREES = "a second opinion disagrees with a doubted answer"


def two_linked(first: str = "A man", second: str = "A guy") -> Session:
    session = Session(f"[people {first}] .", f"[people {second}] .")
    session.say("links/2-1/1", "yes", worker=1)
    return session


# In an open tally the vote is gone


def test_an_answer_of_an_open_turn_is_asked_again() -> None:
    session = Session("[people A man] and [people a boy] .", "[people A guy] .")
    doubted = session.say("links/3-1/1", "yes")
    session.doubt(doubted)
    assert session.open == ["links/3-1/1", "links/3-2/1"]
    session.say("links/3-1/1", "no")
    session.say("links/3-2/1", "no")
    assert session.partition == [(1,), (2,), (3,)]


def test_a_vote_of_an_open_verification_is_gone() -> None:
    session = two_linked("A man", "One man")
    doubted = session.say("verification/1/1", "false")
    session.doubt(doubted)
    assert session.chain(1).verification == ()
    session.say("verification/1/1", "false")
    assert session.partition == [(1, 2)], "it takes two"


def test_a_vote_of_an_open_requirement_is_gone() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "nobox")
    session.doubt(doubted)
    session.say("requirement/1/1", "nobox")
    assert session.open == ["requirement/1/1"], "it takes two"


def test_a_vote_less_may_settle_a_requirement() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "nobox")
    session.say("requirement/1/1", "box")
    session.doubt(doubted)
    assert session.open == ["drawing/1/1"]


def test_a_chain_that_came_to_drawing_by_a_doubted_vote_goes_back() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "box")
    session.doubt(doubted)
    assert session.open == ["requirement/1/1"]
    assert not session.state.second_opinions


def test_an_accepted_box_settles_that_one_can_be_drawn() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "box")
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "good")
    session.doubt(doubted)
    assert session.open == ["coverage/1/2"]


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_vote_of_an_open_coverage_is_gone(answer: str) -> None:
    session = boxed_man()
    doubted = session.say("coverage/1/2", answer)
    session.doubt(doubted)
    assert session.open == ["coverage/1/2"]
    assert session.chain(1).coverage == ()


def test_a_vote_less_may_complete_a_chain() -> None:
    session = boxed_man()
    doubted = session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "none")
    session.say("coverage/1/2", "no")
    session.say("drawing/1/3", "none")
    assert session.chain(1).phase is Phase.COVERAGE
    session.doubt(doubted)
    assert session.chain(1).phase is Phase.COMPLETE


def test_a_drawers_none_needed_is_a_vote_that_can_be_doubted() -> None:
    session = one_man()
    doubted = session.say("drawing/1/1", "none")
    session.doubt(doubted)
    assert session.open == ["drawing/1/2"]


# A settled decision is asked once more


def test_a_link_that_was_settled_is_asked_once_more_and_agreement_goes_on() -> None:
    session = two_linked()
    session.doubt(1)
    assert session.open == ["links/2-1/1?1"], "the chain's next question waits"
    session.say("links/2-1/1?1", "yes", worker=2)
    assert session.open == ["verification/1/1"]


@pytest.mark.parametrize(("first", "second"), [("yes", "no"), ("no", "yes")])
def test_a_link_on_which_the_second_opinion_disagrees_goes_to_review(
    first: str, second: str
) -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", first)
    session.doubt(1)
    session.say("links/2-1/1?1", second)
    chain = next(c for c in session.state.chains if 2 in c.mentions)
    assert (chain.phase, chain.review) == (Phase.REVIEW, DISAGREES)


@pytest.mark.parametrize(("second", "phase"), [("true", Phase.DRAWING), ("false", Phase.REVIEW)])
def test_a_kept_chain(second: str, phase: Phase) -> None:
    session = two_linked()
    doubted = session.say("verification/1/1", "true")
    session.doubt(doubted)
    key = f"verification/1/1?{doubted}"
    assert session.open == [key]
    session.say(key, second)
    assert session.chain(1).phase is phase


@pytest.mark.parametrize(("second", "phase"), [("false", Phase.DRAWING), ("true", Phase.REVIEW)])
def test_a_broken_chain(second: str, phase: Phase) -> None:
    session = two_linked()
    doubted = session.say("verification/1/1", "false")
    session.doubt(doubted)
    key = f"verification/1/1?{doubted}"
    assert session.open == [key]
    session.say(key, second)
    assert session.partition == [(1,), (2,)]
    assert {chain.phase for chain in session.state.chains} == {phase}


@pytest.mark.parametrize("second", ["scene", "nobox", "box"])
def test_a_nonvisual_chain(second: str) -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "nobox")
    session.say("requirement/1/1", "nobox")
    session.doubt(doubted)
    key = f"requirement/1/1?{doubted}"
    assert session.open == [key]
    assert not session.state.is_finished
    session.say(key, second)
    chain = session.chain(1)
    if second == "box":
        assert (chain.phase, chain.review) == (Phase.REVIEW, DISAGREES)
    else:
        assert chain.phase is Phase.NONVISUAL
        assert (chain.scene, chain.nobndbox) == (second == "scene", True)
        assert session.state.is_finished


@pytest.mark.parametrize(("second", "phase"), [("yes", Phase.COMPLETE), ("no", Phase.REVIEW)])
def test_a_complete_chain(second: str, phase: Phase) -> None:
    session = finished_man()
    session.doubt(4)
    assert session.open == ["coverage/1/2?4"]
    session.say("coverage/1/2?4", second, worker=9)
    assert session.chain(1).phase is phase


@pytest.mark.parametrize(("second", "phase"), [("good", Phase.COVERAGE), ("bad", Phase.REVIEW)])
def test_an_accepted_box(second: str, phase: Phase) -> None:
    session = boxed_man()
    session.doubt(2)
    assert session.open == ["quality/1/1?2"]
    session.say("quality/1/1?2", second, worker=9)
    assert session.chain(1).phase is phase


@pytest.mark.parametrize(("second", "phase"), [("bad", Phase.DRAWING), ("good", Phase.REVIEW)])
def test_a_discarded_box(second: str, phase: Phase) -> None:
    session = one_man()
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "bad", worker=2)
    session.doubt(2)
    session.say("quality/1/1?2", second, worker=9)
    assert session.chain(1).phase is phase
    box = find_box(session.state, 1)
    assert box is not None
    assert box.status is BoxStatus.DISCARDED


def test_a_decision_that_stands_without_the_vote_is_not_asked_again() -> None:
    session = boxed_man()
    session.say("coverage/1/2", "yes", worker=3)
    against = session.say("coverage/1/2", "no", worker=4)
    session.say("coverage/1/2", "yes", worker=5)
    session.doubt(against)
    assert session.state.is_finished

    session = two_linked("A man", "One man")
    against = session.say("verification/1/1", "false")
    session.say("verification/1/1", "true")
    session.doubt(against)
    assert session.open == ["drawing/1/1"]


def test_a_second_opinion_can_be_doubted_too() -> None:
    session = finished_man()
    session.doubt(4)
    again = session.say("coverage/1/2?4", "yes", worker=9)
    assert session.state.is_finished
    session.doubt(again)
    assert session.open == [f"coverage/1/2?{again}"]


@pytest.mark.parametrize(
    ("key", "answer"), [("links/2-1/1", "yes"), ("links/2-1/1", "no"), ("quality/1/1", "good")]
)
def test_a_second_opinion_takes_the_doubted_answers_place(key: str, answer: str) -> None:
    if key.startswith("links"):
        session = Session("[people A man] .", "[people A guy] .")
    else:
        session = one_man()
        session.say("drawing/1/1", "box")
    doubted = session.say(key, answer)
    session.doubt(doubted)
    again = session.say(f"{key}?{doubted}", answer)
    before = session.open
    session.doubt(doubted)
    assert session.open == before, "the first answer carries nothing any more"
    session.doubt(again)
    assert session.open[0] == f"{key}?{again}", "the second one does"


def test_two_doubts_of_one_tally_ask_twice() -> None:
    session = finished_man()
    session.doubt(3)
    session.doubt(4)
    assert session.open == ["coverage/1/2?3", "coverage/1/2?4"]
    session.say("coverage/1/2?3", "yes", worker=8)
    session.say_late("coverage/1/2?4", "yes", worker=8)
    session.say("coverage/1/2?4", "yes", worker=9)
    assert session.state.is_finished


def test_doubting_twice_or_what_did_not_count_changes_nothing() -> None:
    session = finished_man()
    late = session.say_late("coverage/1/2", "no")
    session.doubt(late)
    assert session.state.is_finished
    session.doubt(4)
    opinions = session.state.second_opinions
    session.doubt(4)
    assert session.state.second_opinions == opinions


def test_a_vote_against_the_decision_is_not_asked_again_either() -> None:
    session = boxed_man()
    doubted = session.say("coverage/1/2", "yes", worker=3)
    against = session.say("coverage/1/2", "no", worker=4)
    session.say("coverage/1/2", "yes", worker=5)
    session.doubt(doubted)
    session.doubt(against)
    assert session.open == [f"coverage/1/2?{doubted}"]


def test_a_reviewers_decision_does_not_rest_on_votes() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "nobox")
    session.apply(NoBox(REVIEWER, 1, False, True))
    session.doubt(doubted)
    assert session.state.is_finished

    session = boxed_man()
    doubted = session.say("coverage/1/2", "yes")
    session.apply(SendTo(REVIEWER, 1, Target.COMPLETE))
    session.doubt(doubted)
    assert session.state.is_finished

    session = two_linked("A man", "One man")
    doubted = session.say("verification/1/1", "false")
    session.apply(SendTo(REVIEWER, 1, Target.DRAWING))
    session.doubt(doubted)
    assert session.open == ["drawing/1/1"]


def test_a_link_that_verification_has_undone_is_not_asked_again() -> None:
    session = two_linked()
    session.say("verification/1/1", "false")
    session.doubt(1)
    assert session.open == ["drawing/2/1", "drawing/3/1"]


def test_a_refused_link_between_mentions_that_are_together_now_is_not_asked_again() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    doubted = session.say("links/2-1/1", "no")
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "yes")
    session.doubt(doubted)
    assert session.open == ["verification/1/1"]


def test_a_box_that_waits_for_quality_is_about_to_settle_that_one_can_be_drawn() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "box")
    session.say("drawing/1/1", "box")
    session.doubt(doubted)
    assert session.open == ["quality/1/1"]


def test_a_box_vote_never_carried_a_nonvisual_chain() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "nobox")
    against = session.say("requirement/1/1", "box")
    session.say("requirement/1/1", "nobox")
    session.doubt(doubted)
    session.doubt(against)
    assert session.open == [f"requirement/1/1?{doubted}"]


# A second opinion is no longer asked for when the decision no longer stands


def doubted_nobox() -> Session:
    session = one_ball()
    session.say("requirement/1/1", "nobox", "nobox")
    session.doubt(1)
    return session


def doubted_quality() -> Session:
    session = boxed_man()
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    session.doubt(2)
    return session


def doubted_coverage() -> Session:
    session = finished_man()
    session.doubt(4)
    return session


def doubted_link() -> Session:
    session = two_linked()
    session.doubt(1)
    return session


def doubted_verification() -> Session:
    session = two_linked()
    session.doubt(session.say("verification/1/1", "true"))
    return session


@pytest.mark.parametrize(
    ("session", "decision", "opens"),
    [
        (doubted_link(), SendTo(REVIEWER, 1, Target.REVIEW), []),
        (doubted_link(), SendTo(REVIEWER, 1, Target.LINKS), ["links/2-1/2"]),
        (doubted_verification(), SendTo(REVIEWER, 1, Target.VERIFICATION), ["verification/1/2"]),
        (doubted_nobox(), NoBox(REVIEWER, 1, False, True), []),
        (doubted_nobox(), SendTo(REVIEWER, 1, Target.DRAWING), ["drawing/1/1"]),
        (doubted_quality(), BoxDelete(REVIEWER, 1), ["coverage/1/4"]),
        (doubted_quality(), SendTo(REVIEWER, 1, Target.REVIEW), []),
        (doubted_coverage(), BoxAdd(REVIEWER, 1, RECT), []),
        (doubted_coverage(), SendTo(REVIEWER, 1, Target.COVERAGE), ["coverage/1/3"]),
    ],
)
def test_a_reviewers_decision_makes_a_second_opinion_pointless(
    session: Session, decision: Decision, opens: list[str]
) -> None:
    assert [key for key in session.open if "?" in key]
    session.apply(decision)
    assert session.open == opens


def test_only_the_chains_concerned_wait_and_go_to_review() -> None:
    session = Session("[people A man] on [scene a road] .")
    session.say("drawing/1/1", "box")
    doubted = session.say("quality/1/1", "good")
    session.doubt(doubted)
    assert session.open == [f"quality/1/1?{doubted}", "requirement/2/1"]
    session.say(f"quality/1/1?{doubted}", "bad")
    assert [chain.phase for chain in session.state.chains] == [Phase.REVIEW, Phase.REQUIREMENT]


def test_a_doubt_of_one_broken_chain_leaves_the_other() -> None:
    session = Session(
        "[people A man] and [animals a dog] .", "[people A guy] and [animals a puppy] ."
    )
    session.say("links/3-1/1", "yes")
    session.say("links/4-2/1", "yes")
    session.say("verification/1/1", "false")
    doubted = session.say("verification/2/1", "false")
    other = session.state.broken[0]
    drawings = session.open
    session.doubt(doubted)
    assert session.state.broken[0] == other
    # The questions of the other chain's parts stay open.
    assert session.open == [f"verification/2/1?{doubted}", *drawings[:2]]
    again = session.say(f"verification/2/1?{doubted}", "false")
    assert session.state.broken[0] == other
    assert [vote.fact for vote in session.state.broken[1].votes] == [again]


# Whoever was doubted has had their say


@pytest.mark.parametrize("stage", ["links", "verification", "requirement", "coverage"])
def test_a_doubted_worker_is_not_asked_the_same_again(stage: str) -> None:
    if stage == "links":
        session = Session("[people A man] and [people a boy] .", "[people A guy] .")
        key, answer = "links/3-1/1", "no"
    elif stage == "verification":
        session, key, answer = two_linked("A man", "One man"), "verification/1/1", "false"
    elif stage == "requirement":
        session, key, answer = one_ball(), "requirement/1/1", "nobox"
    else:
        session, key, answer = boxed_man(), "coverage/1/2", "yes"
    session.doubt(session.say(key, answer, worker=7))
    assert key in session.open
    question = question_from_key(key)
    assert not may_answer(session.state, question, 7)
    assert may_answer(session.state, question, 8)
    session.say_late(key, answer, worker=7)
    session.say(key, answer, worker=8)
