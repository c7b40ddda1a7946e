"""Review decisions: what each does."""

import pytest

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    Decision,
    FixSpan,
    ImportedBox,
    ImportedChain,
    Join,
    NoBox,
    Retype,
    SendTo,
    Split,
    Target,
)
from annotation.pipeline.protocol.merge import merge
from annotation.pipeline.protocol.state import (
    BoxStatus,
    Phase,
    accepted_boxes,
    find_box,
    find_mention,
)
from tests.unit.protocol.images import (
    RECT,
    REVIEWER,
    Session,
    boxed_man,
    finished_man,
    one_ball,
    one_man,
)

OTHER_RECT = Rect(50, 50, 60, 60)


def three_chains() -> Session:
    """Chains 1 of mentions 1 and 3, with box 1; 2 of mention 2 in Drawing; 4 in Requirement."""
    session = Session("[people A man] by [people a boy] .", "[people A guy] on [other a stool] .")
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "no")
    session.say("verification/1/1", "true")
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    assert session.open == ["coverage/1/2", "drawing/2/1", "requirement/3/1"]
    return session


def linking() -> Session:
    """Chain 1 is still being linked; chain 2 is in Requirement."""
    return Session("[people A man] on [scene a road] .", "[people A guy] .")


def verifying() -> Session:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes")
    return session


def statuses(session: Session) -> list[str]:
    return [box.status.value for box in session.state.boxes]


# Mentions


def test_fix_span_changes_the_mentions_tokens() -> None:
    session = Session("[people A man] here .")
    session.apply(FixSpan(REVIEWER, 1, 0, 3))
    mention = find_mention(session.state, 1)
    assert mention is not None
    assert (mention.start, mention.end) == (0, 3)
    assert session.open == ["drawing/1/1"]


def test_a_fixed_span_may_touch_its_neighbour() -> None:
    for mention, start, end in ((1, 0, 3), (2, 2, 5)):
        session = linking()
        session.apply(FixSpan(REVIEWER, mention, start, end))
        fixed = find_mention(session.state, mention)
        assert fixed is not None
        assert (fixed.start, fixed.end) == (start, end)


def test_retype_changes_the_types() -> None:
    session = one_ball()
    session.apply(Retype(REVIEWER, 1, ("animals", "other")))
    mention = find_mention(session.state, 1)
    assert mention is not None
    assert mention.types == ("animals", "other")


def test_retype_as_not_visual_takes_the_mention_out_of_its_chain() -> None:
    session = three_chains()
    session.apply(Retype(REVIEWER, 3, ("notvisual",)))
    assert session.chain(1).mentions == (1,)
    session.apply(Retype(REVIEWER, 1, ("notvisual",)))
    assert [chain.number for chain in session.state.chains] == [2, 3]
    assert statuses(session) == ["removed"]


def test_retype_during_verification_asks_anew_or_has_nothing_left_to_ask() -> None:
    session = verifying()
    session.apply(Retype(REVIEWER, 2, ("notvisual",)))
    assert session.open == ["drawing/1/1"]


def test_retype_as_visual_gives_the_mention_its_turn() -> None:
    session = Session("[people A man] .", "[notvisual A guy] .")
    session.apply(Retype(REVIEWER, 2, ("people",)))
    assert "links/2-1/1" in session.open


# Chains


def test_split_takes_mentions_and_boxes_along() -> None:
    session = three_chains()
    session.say("coverage/1/2", "yes", "yes")
    session.apply(Split(REVIEWER, 1, (3,), (1,)))
    assert session.partition == [(1,), (2,), (3,), (4,)]
    assert [box.number for box in accepted_boxes(session.state, 4)] == [1]
    assert session.chain(4).phase is Phase.COMPLETE
    assert session.chain(1).phase is Phase.REVIEW, "it is complete without a box"
    assert session.chain(1).review == "its last box was deleted"


def test_split_without_boxes_starts_the_box_stages_for_the_part() -> None:
    session = three_chains()
    session.apply(Split(REVIEWER, 1, (1,)))
    assert session.chain(1).mentions == (3,)
    assert session.chain(1).phase is Phase.COVERAGE
    assert session.chain(4).phase is Phase.DRAWING


def test_split_of_a_chain_that_is_not_complete_goes_on_with_coverage() -> None:
    session = three_chains()
    session.apply(Split(REVIEWER, 1, (3,), (1,)))
    assert session.chain(4).phase is Phase.COVERAGE
    assert session.chain(4).entries == 1
    assert session.chain(1).phase is Phase.DRAWING


def test_split_of_a_nonvisual_chain_keeps_its_flags() -> None:
    session = Session("[scene A street] .", "[scene A road] .")
    session.say("links/2-1/1", "yes")
    session.say("verification/1/1", "true")
    session.say("requirement/1/1", "scene", "scene")
    session.apply(Split(REVIEWER, 1, (2,)))
    assert (session.chain(2).phase, session.chain(2).scene) == (Phase.NONVISUAL, True)
    assert session.state.is_finished


def test_parts_of_imported_chains_are_not_merged_either() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people A boy] .", "[people He] .")
    session.apply(
        AcceptedImport(
            chains=(ImportedChain((1, 2)), ImportedChain((3, 4))),
            boxes=(ImportedBox((1, 2), RECT), ImportedBox((1, 2), OTHER_RECT)),
        )
    )
    session.apply(Split(REVIEWER, 1, (2,), (1,)))
    session.apply(Split(REVIEWER, 2, (4,), (1,)))
    merged = merge(session.state, session.settings)
    assert sorted(chain.mentions for chain in merged.chains) == [(1,), (2,), (3,), (4,)]


def test_split_by_a_reviewer_is_not_verified() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    session.say("links/2-1/1", "yes")
    session.say(session.open[0], "yes")
    session.say("verification/1/1", "true")
    session.apply(Split(REVIEWER, 1, (1, 2)))
    assert session.open == ["drawing/1/1", "drawing/2/1"]


def test_split_during_verification_verifies_what_is_left() -> None:
    session = verifying()
    session.apply(Split(REVIEWER, 1, (2,)))
    assert session.open == ["drawing/1/1", "drawing/2/1"]


def test_join_makes_one_chain_of_several_under_the_lowest_number() -> None:
    session = three_chains()
    session.apply(Join(REVIEWER, (2, 1)))
    assert session.partition == [(1, 2, 3), (4,)]
    assert session.chain(1).phase is Phase.COVERAGE
    assert session.chain(1).coverage_round == 3


def test_join_keeps_the_lowest_number_even_if_its_mentions_come_later() -> None:
    session = Session("[people A man] by [people a boy] .", "[people A guy] .")
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "no")
    session.say("verification/1/1", "false")  # chains 3 and 4 in the place of 1
    session.apply(Join(REVIEWER, (3, 2)))
    assert session.chain(2).mentions == (1, 2)


def test_join_of_complete_and_nonvisual_chains_is_complete() -> None:
    session = three_chains()
    session.say("coverage/1/2", "yes", "yes")
    session.say("requirement/3/1", "nobox", "nobox")
    session.apply(Join(REVIEWER, (1, 3)))
    chain = session.chain(1)
    assert (chain.phase, chain.scene, chain.nobndbox) == (Phase.COMPLETE, False, False)


def test_join_drops_a_box_that_waits_for_quality() -> None:
    session = three_chains()
    session.say("drawing/2/1", "box")
    session.apply(Join(REVIEWER, (1, 2)))
    assert statuses(session) == ["accepted", "removed"]
    assert "coverage/1/3" in session.open


def test_join_moves_boxes() -> None:
    session = three_chains()
    session.say("drawing/2/1", "box")
    session.say("quality/2/1", "good")
    session.apply(Join(REVIEWER, (1, 2)))
    assert [box.number for box in accepted_boxes(session.state, 1)] == [1, 2]


def test_join_with_a_chain_that_is_being_linked_is_linked_and_verified() -> None:
    session = linking()
    session.apply(Join(REVIEWER, (1, 2)))
    assert session.chain(1).phase is Phase.LINKING
    session.say("links/3-2/1" if "links/3-2/1" in session.open else "links/3-1/1", "no")
    assert "verification/1/1" in session.open


@pytest.mark.parametrize("other", [1, 3])
def test_join_with_a_chain_in_review_stays_in_review_with_its_reason(other: int) -> None:
    session = three_chains()
    session.apply(SendTo(REVIEWER, 2, Target.REVIEW, "look here"))
    session.apply(Join(REVIEWER, (2, other)))
    joined = session.chain(min(2, other))
    assert (joined.phase, joined.review) == (Phase.REVIEW, "look here")


def test_join_without_boxes_goes_by_the_votes() -> None:
    session = Session("[other A ball] and [scene a road] .")
    session.say("requirement/1/1", "nobox", "nobox")
    session.say("requirement/2/1", "scene", "scene")
    votes = session.chain(1).requirement
    session.apply(Join(REVIEWER, (1, 2)))
    chain = session.chain(1)
    assert (chain.phase, chain.requirement, chain.entries) == (Phase.NONVISUAL, votes, 0)


# Boxes


def test_box_add_is_accepted_and_coverage_begins_anew() -> None:
    for session, round_ in ((one_ball(), 2), (one_man(), 2), (boxed_man(), 3)):
        session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT))
        assert session.state.boxes[-1].status is BoxStatus.ACCEPTED
        assert session.open == [f"coverage/1/{round_}"]


def test_box_add_to_a_finished_chain_leaves_it_complete() -> None:
    session = finished_man()
    session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT))
    assert session.state.is_finished
    session = one_ball()
    session.say("requirement/1/1", "scene", "scene")
    session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT))
    assert (session.chain(1).phase, session.chain(1).scene) == (Phase.COMPLETE, False)


def test_box_adjust_moves_the_rectangle_alone() -> None:
    session = finished_man()
    before = session.chain(1)
    session.apply(BoxAdjust(REVIEWER, 1, OTHER_RECT))
    assert session.state.boxes[0].rect == OTHER_RECT
    assert session.chain(1) == before


def test_box_delete_of_the_last_box_sends_a_complete_chain_to_review() -> None:
    session = finished_man()
    session.apply(BoxDelete(REVIEWER, 1))
    assert statuses(session) == ["removed"]
    assert session.chain(1).phase is Phase.REVIEW
    assert session.chain(1).review == "its last box was deleted"


def test_box_delete_of_one_of_several_leaves_the_chain_complete() -> None:
    session = finished_man()
    session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT))
    session.apply(BoxDelete(REVIEWER, 1))
    assert session.state.is_finished


def test_box_delete_in_coverage_and_in_quality_goes_back_to_drawing() -> None:
    session = boxed_man()
    session.apply(BoxDelete(REVIEWER, 1))
    assert session.open == ["drawing/1/2"]
    session.say("drawing/1/2", "box")
    session.apply(BoxDelete(REVIEWER, 2))
    assert session.open == ["drawing/1/3"]


def test_box_delete_takes_the_box_from_every_chain_that_has_it() -> None:
    session = Session("[people A man] and [people a boy] .")
    session.apply(
        AcceptedImport(
            chains=(ImportedChain((1,)), ImportedChain((2,))), boxes=(ImportedBox((1, 2), RECT),)
        )
    )
    session.apply(BoxDelete(REVIEWER, 1))
    assert [chain.phase for chain in session.state.chains] == [Phase.REVIEW, Phase.REVIEW]


@pytest.mark.parametrize(("scene", "nobndbox"), [(True, False), (False, True), (True, True)])
def test_no_box_settles_the_chain(scene: bool, nobndbox: bool) -> None:
    session = boxed_man()
    session.apply(NoBox(REVIEWER, 1, scene, nobndbox))
    chain = session.chain(1)
    assert (chain.phase, chain.scene, chain.nobndbox) == (Phase.NONVISUAL, scene, nobndbox)
    assert statuses(session) == ["removed"]
    assert session.state.is_finished


def test_no_box_leaves_the_boxes_of_other_chains() -> None:
    session = three_chains()
    session.apply(NoBox(REVIEWER, 3, False, True))
    assert statuses(session) == ["accepted"]
    assert session.chain(1).phase is Phase.COVERAGE


def test_no_box_leaves_a_shared_box_to_the_other_chain() -> None:
    session = Session("[people A man] and [people a boy] .")
    session.apply(
        AcceptedImport(
            chains=(ImportedChain((1,)), ImportedChain((2,))), boxes=(ImportedBox((1, 2), RECT),)
        )
    )
    session.apply(NoBox(REVIEWER, 1, False, True))
    box = find_box(session.state, 1)
    assert box is not None
    assert (box.chains, box.status) == ((2,), BoxStatus.ACCEPTED)


@pytest.mark.parametrize(
    "decision", [NoBox(REVIEWER, 1, False, True), SendTo(REVIEWER, 1, Target.LINKS)]
)
def test_a_box_that_quality_refused_stays_refused(decision: Decision) -> None:
    session = three_chains()
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "box", rect=OTHER_RECT)
    session.say("quality/2/1", "bad")
    session.apply(decision)
    assert statuses(session) == ["removed", "discarded"]


# Sending chains about


@pytest.mark.parametrize(
    ("target", "opens"),
    [
        (Target.VERIFICATION, "verification/1/2"),
        (Target.DRAWING, "drawing/1/2"),
        (Target.COVERAGE, "coverage/1/3"),
        (Target.LINKS, "links/3-2/2"),
    ],
)
def test_send_to_a_stage(target: Target, opens: str) -> None:
    session = three_chains()
    session.apply(SendTo(REVIEWER, 1, target))
    assert opens in session.open
    assert "coverage/1/2" not in session.open


def test_send_to_requirement_begins_a_new_tally() -> None:
    session = one_ball()
    session.say("requirement/1/1", "scene", "scene")
    session.apply(SendTo(REVIEWER, 1, Target.REQUIREMENT))
    chain = session.chain(1)
    assert session.open == ["requirement/1/2"]
    assert (chain.requirement, chain.scene, chain.entries) == ((), False, 1)


def test_send_to_drawing_stands_for_the_vote_of_requirement() -> None:
    session = one_ball()
    session.say("requirement/1/1", "scene", "scene")
    session.apply(SendTo(REVIEWER, 1, Target.DRAWING))
    session.say("drawing/1/1", "none")
    assert session.open == ["requirement/1/2"], "one against one"


def test_send_to_complete_settles() -> None:
    session = boxed_man()
    session.apply(SendTo(REVIEWER, 1, Target.COMPLETE))
    assert session.state.is_finished


def test_send_to_review_says_why() -> None:
    session = finished_man()
    session.apply(SendTo(REVIEWER, 1, Target.REVIEW))
    assert (session.chain(1).phase, session.chain(1).review) == (Phase.REVIEW, "sent by a reviewer")
    session.apply(SendTo(REVIEWER, 1, Target.COMPLETE))
    assert session.chain(1).review == ""
    session.apply(SendTo(0, 1, Target.REVIEW, "nobody may answer"))
    assert session.chain(1).review == "nobody may answer"


def test_send_to_links_takes_the_chain_apart_and_its_boxes_away() -> None:
    session = three_chains()
    session.apply(SendTo(REVIEWER, 1, Target.LINKS))
    assert statuses(session) == ["removed"]
    assert 1 not in [chain.number for chain in session.state.chains]


def test_sending_forgets_the_count_of_disagreements() -> None:
    session = one_man()
    for n in (1, 2, 3):
        session.say(f"drawing/1/{n}", "box")
        session.say(f"quality/{n}/1", "bad")
    session.apply(SendTo(REVIEWER, 1, Target.DRAWING))
    assert (session.chain(1).bad_boxes, session.chain(1).entries) == (0, 0)
    assert session.open == ["drawing/1/4"]


def test_sending_drops_a_box_that_waits_for_quality() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    session.apply(SendTo(REVIEWER, 1, Target.DRAWING))
    assert statuses(session) == ["removed"]
    assert session.open == ["drawing/1/2"]


@pytest.mark.parametrize(
    "decision",
    [
        BoxAdd(REVIEWER, 1, OTHER_RECT),
        SendTo(REVIEWER, 1, Target.COVERAGE),
        Join(REVIEWER, (1, 2)),
    ],
    ids=lambda decision: type(decision).__name__,
)
def test_coverage_that_a_reviewer_begins_is_the_first_entry(decision: Decision) -> None:
    session = three_chains()
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "box")
    session.say("quality/2/1", "bad")
    session.say("drawing/1/3", "none")
    assert (session.chain(1).entries, session.chain(1).bad_boxes) == (2, 1)
    session.apply(decision)
    chain = session.chain(1)
    assert (chain.phase, chain.entries, chain.bad_boxes) == (Phase.COVERAGE, 1, 0)


def test_a_box_added_while_another_waits_for_quality_leaves_that_open() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT))
    assert session.open == ["quality/1/1"]
