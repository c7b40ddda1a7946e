"""Flags and open questions follow the state, also after doubts, review decisions and undo."""

import pytest

from annotation.pipeline.protocol.facts import (
    BoxDelete,
    Decision,
    FixSpan,
    Join,
    NoBox,
    Retype,
    SendTo,
    Split,
    Target,
)
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.protocol.state import Phase
from annotation.pipeline.work.display import shown
from tests.unit.protocol.images import REVIEWER, Session, finished_man, one_ball
from tests.unit.protocol.state_invariants import check_flags, check_open_questions

# Flags of a non-visual chain


def nonvisual_by(*answers: str) -> Session:
    """Return one chain, 1, that these answers have made non-visual, "none" being a drawer's."""
    session = one_ball()
    drawings = 0
    for answer in answers:
        if answer == "none":
            drawings += 1
            session.say(f"drawing/1/{drawings}", answer)
        else:
            session.say("requirement/1/1", answer)
    assert session.chain(1).phase is Phase.NONVISUAL
    return session


@pytest.mark.parametrize(
    ("answers", "doubted", "flags"),
    [
        (("nobox", "box", "box", "none", "scene"), 1, (True, False)),
        (("nobox", "box", "box", "none", "scene"), 5, (False, True)),
        (("nobox", "box", "box", "none", "scene"), 2, (True, True)),
        (("scene", "box", "nobox"), 1, (False, True)),
        (("scene", "box", "scene"), 1, (True, False)),
    ],
)
def test_a_doubt_of_the_vote_that_set_a_flag_takes_the_flag(
    answers: tuple[str, ...], doubted: int, flags: tuple[bool, bool]
) -> None:
    session = nonvisual_by(*answers)
    session.doubt(doubted)
    chain = session.chain(1)
    assert chain.phase is Phase.NONVISUAL
    assert (chain.scene, chain.nobndbox) == flags
    check_flags(session.state)


def test_a_flag_follows_a_doubt_that_leaves_the_decision_standing() -> None:
    session = nonvisual_by("nobox", "box", "box", "none", "scene")
    session.doubt(2)
    session.doubt(1)
    assert session.state.is_finished, "two votes against a box outnumber the one for it"
    assert (session.chain(1).scene, session.chain(1).nobndbox) == (True, False)


def test_flags_stay_while_second_opinions_on_all_their_votes_are_to_come() -> None:
    session = nonvisual_by("nobox", "nobox")
    session.doubt(1)
    session.doubt(2)
    assert (session.chain(1).scene, session.chain(1).nobndbox) == (False, True)
    session.say("requirement/1/1?1", "scene")
    assert (session.chain(1).scene, session.chain(1).nobndbox) == (True, False)


def test_a_reviewers_flags_do_not_follow_votes() -> None:
    session = nonvisual_by("nobox", "nobox")
    session.apply(NoBox(REVIEWER, 1, True, False))
    session.doubt(1)
    assert (session.chain(1).scene, session.chain(1).nobndbox) == (True, False)


# Second opinions on a verification


def kept(*phrases: str) -> Session:
    """Return one chain, 1, of these phrases, kept by a judgment that is then doubted."""
    session = Session(*(f"[people {phrase}] ." for phrase in phrases))
    while session.open[0].startswith("links"):
        session.say(session.open[0], "yes")
    session.doubt(session.say("verification/1/1", "true"))
    assert [key for key in session.open if key.startswith("verification/1/1?")]
    return session


def broken() -> Session:
    """Return chains 2 and 3, parts of a chain broken by a judgment that is then doubted."""
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes")
    session.doubt(session.say("verification/1/1", "false"))
    assert [key for key in session.open if key.startswith("verification/1/1?")]
    return session


@pytest.mark.parametrize(
    ("session", "decision"),
    [
        (kept("A man", "A guy"), Retype(REVIEWER, 2, ("notvisual",))),
        (kept("A man", "A guy"), Split(REVIEWER, 1, (2,))),
        (kept("A man", "A guy", "Someone"), Split(REVIEWER, 1, (2, 3))),
        (broken(), Retype(REVIEWER, 2, ("notvisual",))),
        (broken(), Join(REVIEWER, (2, 3))),
        (broken(), SendTo(REVIEWER, 3, Target.LINKS)),
    ],
    ids=["retyped", "split", "split in two", "part retyped", "joined again", "linked anew"],
)
def test_no_second_opinion_on_a_verification_that_has_nothing_to_verify(
    session: Session, decision: Decision
) -> None:
    opinions = session.state.second_opinions
    before = session.open
    number = session.apply(decision)
    assert not [key for key in session.open if "?" in key]
    check_open_questions(session.state)
    session.undo(number)
    assert session.state.second_opinions == opinions, "the decision it is about stands again"
    assert session.open == before


def test_a_second_opinion_on_two_of_three_mentions_is_still_asked() -> None:
    session = kept("A man", "A guy", "Someone")
    session.apply(Retype(REVIEWER, 3, ("notvisual",)))
    key = session.open[0]
    assert key.startswith("verification/1/1?")
    assert [mark.mention for mark in shown(session.state, question_from_key(key)).marks] == [1, 2]


def test_a_second_opinion_on_a_broken_chain_shows_only_mentions_that_have_a_chain() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    while session.open[0].startswith("links"):
        session.say(session.open[0], "yes")
    session.doubt(session.say("verification/1/1", "false"))
    session.apply(Retype(REVIEWER, 2, ("notvisual",)))
    key = session.open[0]
    assert key.startswith("verification/1/1?")
    assert [mark.mention for mark in shown(session.state, question_from_key(key)).marks] == [1, 3]


# Link questions whose mentions no longer share a type


@pytest.mark.parametrize("mention", [1, 2], ids=["the chain's mention", "the mention on its turn"])
def test_a_link_is_not_asked_once_a_retype_took_the_shared_type_away(mention: int) -> None:
    session = Session("[people A man] .", "[people A guy] .")
    assert session.open == ["links/2-1/1"]
    number = session.apply(Retype(REVIEWER, mention, ("animals",)))
    assert not [key for key in session.open if key.startswith("links")]
    assert session.partition == [(1,), (2,)]
    session.say_late("links/2-1/1", "yes")
    assert session.partition == [(1,), (2,)], "a late yes joins nothing"
    check_open_questions(session.state)
    session.undo(number)
    assert session.open == ["links/2-1/1"]


def test_a_yes_given_before_the_retype_joins_nothing_either() -> None:
    session = Session("[people A man] and [people a boy] .", "[people A guy] .")
    session.say("links/3-1/1", "yes")
    session.apply(Retype(REVIEWER, 1, ("animals",)))
    assert "links/3-2/1" in session.open
    session.say("links/3-2/1", "no")
    assert session.partition == [(1,), (2,), (3,)]


def test_a_retyped_mention_is_asked_against_the_chains_of_its_new_type() -> None:
    session = Session("[people A man] and [animals a dog] .", "[people A guy] .")
    assert "links/3-1/1" in session.open
    session.apply(Retype(REVIEWER, 3, ("animals",)))
    assert [key for key in session.open if key.startswith("links")] == ["links/3-2/1"]


def test_no_second_opinion_on_a_refused_link_between_types_that_cannot_be_linked() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.doubt(session.say("links/2-1/1", "no"))
    assert "links/2-1/1?1" in session.open
    session.apply(Retype(REVIEWER, 2, ("animals",)))
    assert "links/2-1/1?1" not in session.open


# What is doubted while a decision has put it aside


@pytest.mark.parametrize(
    ("decision", "doubted", "opens"),
    [
        (NoBox(REVIEWER, 1, True, False), 4, "coverage/1/2?4"),
        (SendTo(REVIEWER, 1, Target.COVERAGE), 4, "coverage/1/2?4"),
        (BoxDelete(REVIEWER, 1), 2, "quality/1/1?2"),
        (NoBox(REVIEWER, 1, True, False), 2, "quality/1/1?2"),
    ],
)
def test_undo_brings_a_vote_back_as_doubted(decision: Decision, doubted: int, opens: str) -> None:
    session = finished_man()
    number = session.apply(decision)
    session.doubt(doubted)
    assert opens not in session.open
    session.undo(number)
    assert opens in session.open
    assert doubted not in [vote.fact for vote in session.chain(1).coverage]


def test_undo_does_not_bring_back_a_report_that_was_doubted() -> None:
    session = Session("[people A man] here .", "[people A guy] .", "[people A boy] .")
    reported = session.say("links/2-1/1", "no", cut_wrongly=(1,))
    number = session.apply(FixSpan(REVIEWER, 1, 0, 3))
    session.doubt(reported)
    session.undo(number)
    assert session.state.cut_reports == ()


def test_undo_takes_a_doubted_vote_out_of_a_tally_that_is_open_again() -> None:
    session = one_ball()
    doubted = session.say("requirement/1/1", "nobox")
    number = session.apply(NoBox(REVIEWER, 1, False, True))
    session.doubt(doubted)
    session.undo(number)
    assert session.chain(1).requirement == ()
    session.say("requirement/1/1", "nobox")
    assert session.open == ["requirement/1/1"], "it takes two"
