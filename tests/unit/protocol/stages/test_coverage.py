"""Stage 6, Box Coverage."""

import pytest

from annotation.pipeline.protocol.facts import BoxAdd, BoxDelete, SendTo, Target
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stages.coverage import coverage_tally
from annotation.pipeline.protocol.state import Phase
from tests.unit.protocol.images import RECT, REVIEWER, Session, boxed_man
from tests.unit.protocol.stages.test_requirement import sequences

ASK = "coverage/1/2"


def test_a_first_no_goes_to_drawing_at_once() -> None:
    session = boxed_man()
    session.say(ASK, "no")
    assert session.open == ["drawing/1/2"]


def test_yes_needs_a_second_worker() -> None:
    session = boxed_man()
    session.say(ASK, "yes", worker=5)
    assert session.open == [ASK]
    session.say_late(ASK, "yes", worker=5)
    assert session.chain(1).phase is Phase.COVERAGE
    session.say(ASK, "yes", worker=6)
    assert session.chain(1).phase is Phase.COMPLETE
    assert session.state.is_finished


@pytest.mark.parametrize(("third", "phase"), [("yes", Phase.COMPLETE), ("no", Phase.DRAWING)])
def test_a_third_breaks_the_tie(third: str, phase: Phase) -> None:
    session = boxed_man()
    session.say(ASK, "yes", "no")
    assert session.open == [ASK]
    session.say(ASK, third)
    assert session.chain(1).phase is phase


def test_an_accepted_box_begins_a_new_tally() -> None:
    session = boxed_man()
    session.say(ASK, "yes", "no", "no")
    session.say("drawing/1/2", "box")
    session.say("quality/2/1", "good")
    assert session.chain(1).coverage == ()
    assert session.open == ["coverage/1/3"]
    session.say("coverage/1/3", "yes")
    assert session.open == ["coverage/1/3"], "the old yes is forgotten"


def test_a_discarded_proposal_resets_nothing() -> None:
    session = boxed_man()
    session.say(ASK, "yes", "no", "no")
    session.say("drawing/1/2", "box")
    session.say("quality/2/1", "bad")
    session.say("drawing/1/3", "none")
    assert [vote.answer for vote in session.chain(1).coverage] == ["yes", "no", "no", "drawn"]
    session.say(ASK, "yes")
    assert session.chain(1).phase is Phase.COMPLETE, "three against two"


@pytest.mark.parametrize("change", [BoxAdd(REVIEWER, 1, RECT), BoxDelete(REVIEWER, 2)])
def test_a_box_that_a_reviewer_adds_or_removes_begins_a_new_tally(
    change: BoxAdd | BoxDelete,
) -> None:
    session = boxed_man()
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    session.say("coverage/1/3", "yes")
    session.apply(change)
    assert session.chain(1).coverage == ()
    assert session.open == ["coverage/1/4"]


def test_a_chain_that_comes_back_from_verification_begins_a_new_tally() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes")
    session.say("verification/1/1", "true")
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    session.say(ASK, "yes")
    session.apply(SendTo(REVIEWER, 1, Target.VERIFICATION))
    session.say("verification/1/2", "true")
    assert session.chain(1).coverage == ()
    assert session.open == ["coverage/1/3"]


def test_the_number_of_votes_is_a_setting() -> None:
    session = boxed_man(Settings(coverage_votes=1))
    session.say(ASK, "yes")
    assert session.state.is_finished


def test_every_sequence_of_votes_ends_as_the_rule_says() -> None:
    for votes in sequences(("yes", "no", "drawn")):
        answers = [vote.answer for vote in votes]
        no = answers.count("no")
        yes = len(answers) - no
        if yes >= 2 and yes > no:
            expected = Phase.COMPLETE
        elif no > yes and answers[-1] == "no":
            expected = Phase.DRAWING
        else:
            expected = Phase.COVERAGE
        assert coverage_tally(votes, Settings()) is expected
