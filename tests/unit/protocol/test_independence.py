"""Independence: whose answer counts."""

from annotation.pipeline.protocol.facts import BoxAdd, BoxDelete
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import question_from_key
from tests.unit.protocol.images import RECT, REVIEWER, Session, boxed_man, one_ball, one_man


def may(session: Session, key: str, worker: int) -> bool:
    return may_answer(session.state, question_from_key(key), worker)


def test_one_worker_may_answer_every_pair_of_a_turn() -> None:
    session = Session("[people A man] and [people a boy] .", "[people A guy] .")
    session.say("links/3-1/1", "no", worker=1)
    session.say("links/3-2/1", "no", worker=1)
    assert session.partition == [(1,), (2,), (3,)]


def test_never_two_votes_of_one_worker_on_box_or_no_box() -> None:
    session = one_ball()
    session.say("requirement/1/1", "nobox", worker=1)
    session.say_late("requirement/1/1", "nobox", worker=1)
    assert len(session.chain(1).requirement) == 1
    assert may(session, "requirement/1/1", 2)


def test_none_needed_is_a_vote_on_box_or_no_box() -> None:
    session = one_man()
    session.say("drawing/1/1", "none", worker=1)
    session.say_late("requirement/1/1", "nobox", worker=1)
    assert session.open == ["requirement/1/1"]

    session = one_ball()
    session.say("requirement/1/1", "box", worker=1)
    assert not may(session, "drawing/1/1", 1), "they might say that none is needed"
    assert may(session, "drawing/1/1", 2)


def test_none_needed_is_a_vote_on_completeness() -> None:
    session = boxed_man()
    session.say("coverage/1/2", "no", worker=3)
    assert not may(session, "drawing/1/2", 3)
    session.say("drawing/1/2", "none", worker=4)
    session.say_late("coverage/1/2", "yes", worker=4)
    session.say_late("coverage/1/2", "no", worker=3)
    assert session.open == ["coverage/1/2"]


def test_a_vote_on_box_or_no_box_does_not_bar_from_completeness() -> None:
    session = one_ball()
    session.say("requirement/1/1", "box", worker=1)
    session.say("drawing/1/1", "box", worker=2)
    session.say("quality/1/1", "good", worker=1)
    session.say("coverage/1/2", "yes", worker=1)
    assert len(session.chain(1).coverage) == 1


def test_the_judge_of_a_box_may_draw_the_next_and_answer_coverage() -> None:
    session = boxed_man()
    assert may(session, "coverage/1/2", 2)
    session.say("coverage/1/2", "no", worker=3)
    assert may(session, "drawing/1/2", 2)
    assert may(session, "drawing/1/2", 1), "who drew the last box may draw the next"


def test_never_quality_on_ones_own_box() -> None:
    session = one_man()
    session.say("drawing/1/1", "box", worker=1)
    session.say_late("quality/1/1", "good", worker=1)
    assert session.open == ["quality/1/1"]
    assert may(session, "quality/1/1", 2)


def test_never_coverage_right_after_drawing_the_latest_accepted_box() -> None:
    session = boxed_man()
    session.say_late("coverage/1/2", "yes", worker=1)
    session.say("coverage/1/2", "no", worker=3)
    session.say("drawing/1/2", "box", worker=4)
    session.say("quality/2/1", "good", worker=5)
    assert may(session, "coverage/1/3", 1), "another box is the latest now"
    assert not may(session, "coverage/1/3", 4)
    assert may(session, "coverage/1/3", 3), "their vote was in the tally before"


def test_a_discarded_box_does_not_bar_its_drawer_from_coverage() -> None:
    session = boxed_man()
    session.say("coverage/1/2", "no", worker=3)
    session.say("drawing/1/2", "box", worker=4)
    session.say("quality/2/1", "bad", worker=5)
    session.say("drawing/1/3", "none", worker=6)
    assert may(session, "coverage/1/2", 4)
    assert not may(session, "coverage/1/2", 1)


def test_boxes_of_reviewers_count_as_the_latest_too() -> None:
    session = boxed_man()
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    assert may(session, "coverage/1/3", 1)
    session.apply(BoxDelete(REVIEWER, 2))
    assert not may(session, "coverage/1/4", 1)


def test_never_two_votes_on_one_chains_verification_but_a_new_round_is_another_tally() -> None:
    session = Session("[people A man] .", "[people One man] .")
    session.say("links/2-1/1", "yes", worker=1)
    session.say("verification/1/1", "false", worker=1)
    assert not may(session, "verification/1/1", 1)
    assert may(session, "verification/1/1", 2)


def test_a_second_opinion_is_not_the_doubted_workers_nor_of_one_who_voted_already() -> None:
    session = boxed_man()
    session.say("coverage/1/2", "yes", worker=3)
    doubted = session.say("coverage/1/2", "yes", worker=4)
    session.doubt(doubted)
    key = f"coverage/1/2?{doubted}"
    assert session.open == [key]
    assert [worker for worker in range(1, 7) if may(session, key, worker)] == [2, 5, 6]


def test_a_second_opinion_on_a_box_is_neither_its_drawers_nor_the_doubted_judges() -> None:
    session = one_man()
    session.say("drawing/1/1", "box", worker=1)
    doubted = session.say("quality/1/1", "good", worker=2)
    session.doubt(doubted)
    key = f"quality/1/1?{doubted}"
    assert [worker for worker in range(1, 5) if may(session, key, worker)] == [3, 4]


def test_a_second_opinion_on_a_broken_chain_is_independent_of_its_votes() -> None:
    session = Session("[people A man] .", "[people One man] .")
    session.say("links/2-1/1", "yes")
    session.say("verification/1/1", "false", worker=1)
    doubted = session.say("verification/1/1", "false", worker=2)
    session.doubt(doubted)
    key = f"verification/1/1?{doubted}"
    assert [worker for worker in range(1, 5) if may(session, key, worker)] == [3, 4]
