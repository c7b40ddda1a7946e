"""Which chains and boxes of an image are known for sure."""

from annotation.pipeline.gold.gold_question import (
    GoldSource,
)
from annotation.pipeline.gold.known_images import (
    imported_chains,
    known_image,
    reviewed_chains,
    unanimous_chains,
)
from annotation.pipeline.gold.maker import make_gold
from annotation.pipeline.protocol.facts import NoBox
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.state import find_chain
from tests.unit.gold.park import (
    SETTINGS,
    linked_men,
)
from tests.unit.protocol.images import (
    REVIEWER,
    Session,
    finished_man,
    one_ball,
)


def test_chains_on_which_all_agree() -> None:
    session = linked_men()
    assert unanimous_chains(session.state) == {1}
    known = known_image("men", session.state, {1}, GoldSource.UNANIMOUS)
    gold = make_gold(known, Stage.VERIFICATION, SETTINGS, "s")
    assert [(g.answer, g.workers, g.source) for g in gold] == [
        ("true", (1, 2, 3, 4), GoldSource.UNANIMOUS)
    ]


def test_one_persons_word_is_not_unanimous() -> None:
    session = Session("[people A man] walks .", "[people The man] waits .")
    session.say("links/2-1/1", "yes", worker=1)
    session.say("verification/1/1", "true", worker=1)
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    assert unanimous_chains(session.state) == set()  # not settled
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "yes", worker=4)
    # Settled, but worker 1 alone holds that the phrases are one.
    assert unanimous_chains(session.state) == set()


def test_a_dissenting_vote_is_not_unanimous() -> None:
    session = Session("[people A man] .")
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "no", worker=4)
    session.say("coverage/1/2", "yes", worker=5)
    assert unanimous_chains(session.state) == set()
    assert unanimous_chains(finished_man().state) == {1}


def test_no_box_by_equal_votes_only() -> None:
    same, mixed = one_ball(), one_ball()
    same.say("requirement/1/1", "scene", "scene")
    mixed.say("requirement/1/1", "scene", "nobox")
    assert unanimous_chains(same.state) == {1}
    assert unanimous_chains(mixed.state) == set()
    known = known_image("ball", same.state, {1}, GoldSource.UNANIMOUS)
    assert [g.answer for g in make_gold(known, Stage.REQUIREMENT, SETTINGS, "s")] == ["scene"]


def test_what_is_doubted_is_not_sure() -> None:
    session = finished_man()
    session.doubt(3)  # a vote for completeness, without which it does not stand
    assert unanimous_chains(session.state) == set()


def test_a_cut_phrase_and_an_odd_caption_are_left_out() -> None:
    session = linked_men()
    session.say_late("links/2-1/1", "yes", worker=9)
    state = session.state
    assert len(known_image("men", state, {1}, GoldSource.UNANIMOUS).chains[0].mentions) == 2
    flagged = Session("[people A man] walks .", "[people The man] waits .")
    flagged.say("links/2-1/1", "yes", unrelated=(2,))
    chain = find_chain(flagged.state, 1)
    assert chain is not None
    known = known_image("men", flagged.state, {1}, GoldSource.REVIEWED)
    assert [m.number for m in known.chains[0].mentions] == [1]


def test_reviewed_and_imported_chains() -> None:
    session = one_ball()
    session.apply(NoBox(reviewer=REVIEWER, chain=1, scene=True, nobndbox=False))
    assert reviewed_chains(session.state) == {1}
    assert imported_chains(session.state) == set()
    session.undo(1)
    assert reviewed_chains(session.state) == set()
    assert reviewed_chains(finished_man().state) == set()
