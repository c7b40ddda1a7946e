"""Accepted imports: finished annotation that came with the corpus."""

import pytest

from annotation.pipeline.corpus.corpus_image import annotation_of
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    BoxAdjust,
    FactRefusedError,
    ImportedBox,
    ImportedChain,
)
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import BoxStatus, Phase
from annotation.pipeline.release.export import export_image
from tests.unit.protocol.images import RECT, REVIEWER, Session, one_man

CAPTIONS = ("[people A man] on [scene a road] .", "[people A guy] in [notvisual view] .")
IMPORT = AcceptedImport(
    chains=(
        ImportedChain((3, 1), public_id=71),
        ImportedChain((2,), scene=True, nobndbox=True, public_id=70),
        ImportedChain((), public_id=72),
    ),
    boxes=(ImportedBox((1, 3), RECT), ImportedBox((1,), Rect(1, 1, 5, 5))),
    unrelated=(2,),
)


def accepted() -> Session:
    session = Session(*CAPTIONS)
    session.apply(IMPORT)
    return session


def test_an_accepted_import_is_finished() -> None:
    session = accepted()
    assert session.state.is_finished
    assert not session.state.in_review
    assert session.open == []
    assert [chain.phase for chain in session.state.chains] == [
        Phase.COMPLETE,
        Phase.NONVISUAL,
        Phase.COMPLETE,
    ]
    assert session.chain(1).mentions == (1, 3)
    assert (session.chain(2).scene, session.chain(2).nobndbox) == (True, True)
    assert {box.status for box in session.state.boxes} == {BoxStatus.ACCEPTED}
    assert all(flags.unrelated for flags in session.state.flags)


def test_numbers_go_on_after_those_of_the_import() -> None:
    session = accepted()
    assert (session.state.next_chain, session.state.next_box) == (4, 3)


def test_only_an_image_without_facts_accepts_an_import() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    with pytest.raises(FactRefusedError, match="only into an image without judgments or decisions"):
        session.apply(AcceptedImport(chains=(ImportedChain((1,)),), boxes=()))


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (AcceptedImport(chains=(ImportedChain((1,)),), boxes=()), "check mentions [2, 3]"),
        (
            AcceptedImport(chains=(ImportedChain((1, 2, 3, 4)),), boxes=()),
            "each visual mention needs exactly one chain; check mentions [4]",
        ),
        (
            AcceptedImport(chains=(ImportedChain((1, 2, 3)), ImportedChain((3,))), boxes=()),
            "each visual mention needs exactly one chain",
        ),
        (
            AcceptedImport(
                chains=(ImportedChain((1, 2, 3)),), boxes=(ImportedBox((1,), Rect(1, 1, 1, 81)),)
            ),
            "lies outside the 100×80 image",
        ),
        (
            AcceptedImport(chains=(ImportedChain((1, 2, 3)),), boxes=(ImportedBox((2,), RECT),)),
            "a box names chains (2,), but not all of them exist",
        ),
        (
            AcceptedImport(chains=(ImportedChain((1, 2, 3)),), boxes=(ImportedBox((), RECT),)),
            "a box names chains (), but not all of them exist",
        ),
        (
            AcceptedImport(chains=(ImportedChain((1, 2, 3)),), boxes=(), unrelated=(3,)),
            "there is no caption 3 in this image",
        ),
    ],
)
def test_an_import_that_does_not_fit_is_refused(bad: AcceptedImport, why: str) -> None:
    session = Session(*CAPTIONS)
    with pytest.raises(FactRefusedError) as refusal:
        session.apply(bad)
    assert why in str(refusal.value)


def test_what_is_released_of_an_import_is_the_import() -> None:
    session = accepted()
    released = export_image(
        session.state, Settings(), image="1", filename="1.jpg", depth=3, next_id=iter(())
    )
    assert [box.chains for box in released.boxes] == [(71, 72), (71,)]
    assert [chain.chain for chain in released.unboxed] == [70]
    again = Session(*CAPTIONS)
    again.apply(annotation_of(released, unrelated=(2,)))
    assert (
        export_image(
            again.state, Settings(), image="1", filename="1.jpg", depth=3, next_id=iter(())
        )
        == released
    )


def test_one_moved_box_changes_nothing_else_of_a_release() -> None:
    session = accepted()
    moved = Rect(2, 2, 6, 6)
    session.apply(BoxAdjust(REVIEWER, 2, moved))
    released = export_image(
        session.state, Settings(), image="1", filename="1.jpg", depth=3, next_id=iter(())
    )
    assert [box.rect for box in released.boxes] == [RECT, moved]
    assert [box.chains for box in released.boxes] == [(71, 72), (71,)]
