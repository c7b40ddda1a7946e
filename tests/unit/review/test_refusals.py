"""Review decisions that make no sense are refused, in plain words."""

import pytest

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    FactRefusedError,
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
from annotation.pipeline.protocol.state import Phase
from tests.unit.protocol.images import (
    RECT,
    REVIEWER,
    Session,
    boxed_man,
    one_man,
)
from tests.unit.review.test_decisions import linking, three_chains, verifying


@pytest.mark.parametrize(
    ("session", "decision", "why"),
    [
        (one_man(), FixSpan(9, 2, 0, 1), "there is no mention 2 in this image"),
        (one_man(), FixSpan(9, 1, 1, 1), "tokens 1 to 1 are outside caption 1, which has 3 tokens"),
        (one_man(), FixSpan(9, 1, 0, 4), "tokens 0 to 4 are outside caption 1, which has 3 tokens"),
        (
            one_man(),
            FixSpan(9, 1, -1, 2),
            "tokens -1 to 2 are outside caption 1, which has 3 tokens",
        ),
        (linking(), FixSpan(9, 1, 0, 4), "the span would overlap mention 2"),
        (one_man(), Retype(9, 2, ("people",)), "there is no mention 2 in this image"),
        (one_man(), Retype(9, 1, ()), "nothing is not a valid choice of types"),
        (one_man(), Retype(9, 1, ("cat",)), "cat is not a valid choice of types"),
        (
            one_man(),
            Retype(9, 1, ("people", "people")),
            "people/people is not a valid choice of types",
        ),
        (
            one_man(),
            Retype(9, 1, ("people", "notvisual")),
            "people/notvisual is not a valid choice of types",
        ),
        (one_man(), Split(9, 2, (1,)), "there is no chain 2 in this image"),
        (one_man(), Split(9, 1, (1,)), "of the mentions of chain 1 to split off; it has 1"),
        (
            three_chains(),
            Split(9, 1, ()),
            "choose some, but not all, of the mentions of chain 1 to split off; it has 1, 3",
        ),
        (
            three_chains(),
            Split(9, 1, (2,)),
            "choose some, but not all, of the mentions of chain 1 to split off; it has 1, 3",
        ),
        (three_chains(), Split(9, 1, (3,), (2,)), "chain 1 does not have these boxes: 2"),
        (one_man(), Join(9, (1, 1)), "choose at least two chains to join"),
        (one_man(), Join(9, (1, 2)), "there is no chain 2 in this image"),
        (one_man(), BoxAdd(9, 2, RECT), "there is no chain 2 in this image"),
        (linking(), BoxAdd(9, 1, RECT), "chain 1 is still being linked or verified"),
        (verifying(), BoxAdd(9, 1, RECT), "chain 1 is still being linked or verified"),
        (one_man(), BoxAdd(9, 1, Rect(1, 1, 101, 5)), "lies outside the 100×80 image"),
        (one_man(), BoxAdjust(9, 1, RECT), "there is no box 1 in this image"),
        (boxed_man(), BoxAdjust(9, 1, Rect(0, 1, 5, 5)), "lies outside the 100×80 image"),
        (one_man(), BoxDelete(9, 1), "there is no box 1 in this image"),
        (one_man(), NoBox(9, 1, False, False), "choose whether the chain is a scene"),
        (one_man(), NoBox(9, 2, True, False), "there is no chain 2 in this image"),
        (verifying(), NoBox(9, 1, True, False), "chain 1 is still being linked or verified"),
        (one_man(), CaptionUnrelated(9, 2, True), "there is no caption 2 in this image"),
        (one_man(), CaptionUnrelated(9, 0, True), "there is no caption 0 in this image"),
        (one_man(), SendTo(9, 2, Target.LINKS), "there is no chain 2 in this image"),
        (one_man(), SendTo(9, 1, Target.VERIFICATION), "chain 1 has only one mention"),
        (boxed_man(), SendTo(9, 1, Target.REQUIREMENT), "chain 1 has boxes; delete them first"),
        (one_man(), SendTo(9, 1, Target.COVERAGE), "chain 1 has no box; draw one"),
        (one_man(), SendTo(9, 1, Target.COMPLETE), "chain 1 has no box; draw one"),
        (linking(), SendTo(9, 1, Target.DRAWING), "chain 1 is still being linked; send it to"),
        (linking(), SendTo(9, 1, Target.VERIFICATION), "chain 1 is still being linked; send it"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_in_plain_words(
    session: Session, decision: Decision, why: str
) -> None:
    before = session.state
    with pytest.raises(FactRefusedError) as refusal:
        session.apply(decision)
    assert why in str(refusal.value)
    assert session.state is before


def test_a_removed_box_is_no_longer_there() -> None:
    session = boxed_man()
    session.apply(BoxDelete(REVIEWER, 1))
    for decision in (BoxDelete(REVIEWER, 1), BoxAdjust(REVIEWER, 1, RECT)):
        with pytest.raises(FactRefusedError, match="there is no box 1"):
            session.apply(decision)


def test_a_chain_without_mentions_can_only_go_to_review() -> None:
    session = Session("[people A man] .")
    session.apply(
        AcceptedImport(
            chains=(ImportedChain((1,)), ImportedChain(())), boxes=(ImportedBox((1, 2), RECT),)
        )
    )
    with pytest.raises(FactRefusedError, match="chain 2 has no mention to show workers"):
        session.apply(SendTo(REVIEWER, 2, Target.COVERAGE))
    session.apply(SendTo(REVIEWER, 2, Target.REVIEW))
    assert session.chain(2).phase is Phase.REVIEW
