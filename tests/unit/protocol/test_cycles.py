"""Cycling: chains on which workers keep disagreeing go to review."""

from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import Phase
from tests.unit.protocol.images import Session, boxed_man, one_man


def requirement_round_trip(session: Session) -> None:
    """Box or no box: the drawer says there is none, Requirement says there is one."""
    session.say(session.open[0], "none")
    if session.open:
        session.say("requirement/1/1", "box")


def test_more_than_three_entries_into_requirement_go_to_review() -> None:
    session = one_man()
    for _ in range(3):
        requirement_round_trip(session)
        assert session.chain(1).phase is Phase.DRAWING
    session.say("drawing/1/4", "none")
    assert session.chain(1).phase is Phase.REVIEW
    assert session.chain(1).review == "workers keep disagreeing"
    assert session.open == []


def test_more_than_three_entries_into_coverage_go_to_review() -> None:
    session = boxed_man()  # the first entry
    for n in (2, 3):
        session.say("coverage/1/2", "no")
        session.say(f"drawing/1/{n}", "none")
        assert session.chain(1).phase is Phase.COVERAGE
    session.say("coverage/1/2", "no")
    session.say("drawing/1/4", "none")
    assert session.chain(1).phase is Phase.REVIEW


def test_an_accepted_box_begins_a_new_count() -> None:
    session = one_man()
    for _ in range(3):
        requirement_round_trip(session)
    session.say("drawing/1/4", "box")
    session.say("quality/1/1", "good")
    assert session.chain(1).phase is Phase.COVERAGE
    assert session.chain(1).entries == 1


def test_a_discarded_box_does_not() -> None:
    session = one_man()
    for _ in range(3):
        requirement_round_trip(session)
    session.say("drawing/1/4", "box")
    session.say("quality/1/1", "bad")
    session.say("drawing/1/5", "none")
    assert session.chain(1).phase is Phase.REVIEW


def test_asking_again_within_a_stage_is_no_entry() -> None:
    session = Session("[other A ball] .", settings=Settings(entries_limit=1))
    session.say("requirement/1/1", "nobox", "box")
    assert session.open == ["requirement/1/1"]


def test_the_limit_is_a_setting() -> None:
    session = one_man(Settings(entries_limit=1))
    requirement_round_trip(session)
    session.say("drawing/1/2", "none")
    assert session.chain(1).phase is Phase.REVIEW


def test_an_answer_to_a_chain_in_review_is_stored_and_not_counted() -> None:
    session = one_man(Settings(bad_boxes_limit=1))
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "bad")
    before = session.chain(1)
    session.say_late("drawing/1/2", "none")
    assert session.chain(1) == before
