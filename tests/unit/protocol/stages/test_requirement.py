"""Stage 3, Box Requirement."""

from collections.abc import Iterator
from itertools import product

import pytest

from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stages.requirement import nonvisual_flags, requirement_tally
from annotation.pipeline.protocol.state import Phase, Vote
from tests.unit.protocol.images import Session, one_ball, one_man

ASK = "requirement/1/1"


def sequences(answers: tuple[str, ...], longest: int = 6) -> Iterator[tuple[Vote, ...]]:
    for length in range(longest + 1):
        for given in product(answers, repeat=length):
            yield tuple(Vote(n, n, answer) for n, answer in enumerate(given, start=1))


def test_a_first_box_goes_to_drawing_at_once() -> None:
    session = one_ball()
    assert session.open == [ASK]
    session.say(ASK, "box")
    assert session.open == ["drawing/1/1"]


@pytest.mark.parametrize("first", ["scene", "nobox"])
def test_otherwise_a_second_judgment_is_asked(first: str) -> None:
    session = one_ball()
    session.say(ASK, first)
    assert session.open == [ASK]


@pytest.mark.parametrize(
    ("answers", "scene", "nobndbox"),
    [
        (("scene", "scene"), True, False),
        (("nobox", "nobox"), False, True),
        (("scene", "nobox"), True, True),
        (("nobox", "scene"), True, True),
    ],
)
def test_two_against_a_box_leave_as_nonvisual_with_flags(
    answers: tuple[str, str], scene: bool, nobndbox: bool
) -> None:
    session = one_ball()
    session.say(ASK, *answers)
    chain = session.chain(1)
    assert chain.phase is Phase.NONVISUAL
    assert (chain.scene, chain.nobndbox) == (scene, nobndbox)
    assert session.open == []
    assert session.state.is_finished


@pytest.mark.parametrize(("third", "opens"), [("box", ["drawing/1/1"]), ("nobox", [])])
def test_a_third_judgment_breaks_the_tie(third: str, opens: list[str]) -> None:
    session = one_ball()
    session.say(ASK, "scene", "box")
    assert session.open == [ASK]
    session.say(ASK, third)
    assert session.open == opens


@pytest.mark.parametrize("kind", ["people", "clothing", "bodyparts", "other/clothing"])
def test_people_clothing_and_bodyparts_skip_it_by_one_standing_vote(kind: str) -> None:
    session = Session(f"[{kind} A thing] .")
    assert session.open == ["drawing/1/1"]
    assert [vote.answer for vote in session.chain(1).requirement] == ["box"]


@pytest.mark.parametrize("kind", ["animals", "vehicles", "instruments", "scene", "other"])
def test_other_types_do_not_skip_it(kind: str) -> None:
    assert Session(f"[{kind} A thing] .").open == [ASK]


def test_one_mention_of_such_a_type_is_enough() -> None:
    session = Session("[people/other A clown] .", "[other A statue] .")
    session.say("links/2-1/1", "yes")
    session.say("verification/1/1", "true")
    assert session.open == ["drawing/1/1"]


def test_none_needed_against_the_standing_vote_is_a_tie_that_requirement_breaks() -> None:
    for answer, phase in (("nobox", Phase.NONVISUAL), ("box", Phase.DRAWING)):
        session = one_man()
        session.say("drawing/1/1", "none")
        assert session.open == [ASK]
        session.say(ASK, answer)
        assert session.chain(1).phase is phase


def test_votes_accumulate_over_the_chains_life() -> None:
    session = one_ball()
    session.say(ASK, "nobox", "box", "box")  # 2 : 1, Drawing
    session.say("drawing/1/1", "none")  # 2 : 2, asked once more
    assert session.open == [ASK]
    session.say(ASK, "scene")  # 2 : 3
    assert session.chain(1).phase is Phase.NONVISUAL


def test_drawing_a_box_adds_no_vote() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "bad")
    session.say("drawing/1/2", "none")
    assert len(session.chain(1).requirement) == 2


def test_a_drawers_none_needed_counts_for_neither_flag() -> None:
    session = one_ball()
    session.say(ASK, "box")
    session.say("drawing/1/1", "none")
    session.say(ASK, "scene")
    assert session.chain(1).phase is Phase.NONVISUAL
    assert session.chain(1).scene
    assert not session.chain(1).nobndbox


def test_the_numbers_are_settings() -> None:
    session = one_ball(Settings(nobox_votes=3))
    session.say(ASK, "nobox", "nobox")
    assert session.open == [ASK]
    session.say(ASK, "nobox")
    assert session.state.is_finished
    session = Session("[animals A dog] .", settings=Settings(standing_box_types=("animals",)))
    assert session.open == ["drawing/1/1"]


def test_every_sequence_of_votes_ends_as_the_rule_says() -> None:
    for votes in sequences(("box", "scene", "nobox", "none")):
        answers = [vote.answer for vote in votes]
        box = answers.count("box")
        against = len(answers) - box
        if against >= 2 and against > box:
            expected = Phase.NONVISUAL
        elif box > against and answers[-1] == "box":
            expected = Phase.DRAWING
        else:
            expected = Phase.REQUIREMENT
        assert requirement_tally(votes, Settings()) is expected
        scenes, noboxes = answers.count("scene"), answers.count("nobox")
        assert nonvisual_flags(votes) == (scenes >= noboxes, noboxes >= scenes)


def test_asking_always_ends_within_three_answers_as_the_paper_says() -> None:
    for votes in sequences(("box", "scene", "nobox"), longest=3):
        early = [requirement_tally(votes[:n], Settings()) for n in range(1, len(votes))]
        if len(votes) == 3 and all(phase is Phase.REQUIREMENT for phase in early):
            majority = sum(vote.answer == "box" for vote in votes) >= 2
            expected = Phase.DRAWING if majority else Phase.NONVISUAL
            assert requirement_tally(votes, Settings()) is expected
