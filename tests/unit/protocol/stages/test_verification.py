"""Stage 2, Chain Verification."""

from itertools import product

import pytest

from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    ImportedBox,
    ImportedChain,
    SendTo,
    Target,
)
from annotation.pipeline.protocol.stages.verification import Verdict, verdict
from annotation.pipeline.protocol.state import BoxStatus, Phase, Vote
from tests.unit.protocol.images import RECT, REVIEWER, Session


def three_people(*phrases: str) -> Session:
    """Return an image whose three phrases were linked into chain 1."""
    session = Session(*(f"[people {phrase}] ." for phrase in phrases))
    session.say(session.open[0], "yes")
    session.say(session.open[0], "yes")
    assert session.open == ["verification/1/1"]
    return session


def test_a_chain_of_one_mention_is_not_verified() -> None:
    session = Session("[people A man] .")
    assert session.open == ["drawing/1/1"]


def test_true_keeps_the_chain() -> None:
    session = three_people("A man", "A tall Man", "A guy")
    session.say("verification/1/1", "true")
    assert session.partition == [(1, 2, 3)]
    assert session.open == ["drawing/1/1"]


def test_false_breaks_by_head_noun_whatever_the_case_and_the_parts_are_not_verified_again() -> None:
    session = three_people("A man", "A guy", "A tall Man")
    session.say("verification/1/1", "false")
    assert session.partition == [(1, 3), (2,)]
    assert [chain.number for chain in session.state.chains] == [2, 3]
    assert session.open == ["drawing/2/1", "drawing/3/1"]


def test_false_on_one_head_asks_a_second_worker() -> None:
    session = three_people("A man", "A tall Man", "One man")
    session.say("verification/1/1", "false", worker=1)
    assert session.open == ["verification/1/1"]
    session.say_late("verification/1/1", "false", worker=1)
    assert session.partition == [(1, 2, 3)]
    session.say("verification/1/1", "false", worker=2)
    assert session.partition == [(1,), (2,), (3,)]
    assert session.open == ["drawing/2/1", "drawing/3/1", "drawing/4/1"]


def test_a_second_workers_true_keeps_a_chain_of_one_head() -> None:
    session = three_people("A man", "A tall man", "One man")
    session.say("verification/1/1", "false", "true")
    assert session.partition == [(1, 2, 3)]
    assert session.open == ["drawing/1/1"]


def test_a_late_answer_to_a_broken_chain_changes_nothing() -> None:
    session = three_people("A man", "A guy", "A tall man")
    session.say("verification/1/1", "false")
    before = session.state.chains
    session.say_late("verification/1/1", "true")
    assert session.state.chains == before


def test_verification_waits_until_the_chain_has_all_its_mentions() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    session.say("links/2-1/1", "yes")
    assert session.open == ["links/3-1/1"]


def test_a_broken_chain_loses_its_boxes() -> None:
    session = three_people("A man", "A guy", "A tall man")
    session.say("verification/1/1", "true")
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "good")
    session.apply(SendTo(REVIEWER, 1, Target.VERIFICATION))
    session.say("verification/1/2", "false")
    assert [box.status for box in session.state.boxes] == [BoxStatus.REMOVED]
    assert {chain.phase for chain in session.state.chains} == {Phase.DRAWING}


def test_a_box_that_another_chain_shares_stays_with_that_one() -> None:
    session = Session("[people A man] and [people a boy] .", "[people A guy] .")
    session.apply(
        AcceptedImport(
            chains=(ImportedChain((1, 3)), ImportedChain((2,))), boxes=(ImportedBox((1, 2), RECT),)
        )
    )
    session.apply(SendTo(REVIEWER, 1, Target.VERIFICATION))
    session.say("verification/1/1", "false")
    (box,) = session.state.boxes
    assert (box.chains, box.status) == ((2,), BoxStatus.ACCEPTED)


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_every_sequence_of_votes_ends_as_the_rule_says(heads: int) -> None:
    for length in range(7):
        for answers in product(("true", "false"), repeat=length):
            votes = tuple(Vote(n, n, answer) for n, answer in enumerate(answers, start=1))
            falses = answers.count("false")
            if "true" in answers:
                expected = Verdict.KEEP
            elif heads > 1:
                expected = Verdict.BREAK_BY_HEAD if falses else Verdict.ASK
            else:
                expected = Verdict.BREAK_APART if falses >= 2 else Verdict.ASK
            assert verdict(votes, heads) is expected
