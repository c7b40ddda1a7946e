"""From a finished image's state to its entry in a release."""

from itertools import count

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import BoxAdd, NoBox
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.release.export import export_image
from annotation.pipeline.release.folder import Phrase, ReleasedBox, ReleasedImage, UnboxedChain
from tests.unit.protocol.images import HEIGHT, RECT, REVIEWER, WIDTH, Session


def exported(session: Session) -> ReleasedImage:
    return export_image(
        session.state, Settings(), image="7", filename="7.jpg", depth=3, next_id=count(50)
    )


def test_chains_take_their_ids_in_order_and_keep_their_flags() -> None:
    session = Session("[people A man] on [scene a road] in [notvisual front] .")
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    session.apply(NoBox(REVIEWER, 2, True, False))
    image = exported(session)
    assert (image.image, image.filename) == ("7", "7.jpg")
    assert (image.width, image.height, image.depth) == (WIDTH, HEIGHT, 3)
    assert image.boxes == (ReleasedBox(chains=(50,), rect=RECT),)
    assert image.unboxed == (UnboxedChain(chain=51, scene=True, nobndbox=False),)
    (sentence,) = image.sentences
    assert sentence.tokens == ("A", "man", "on", "a", "road", "in", "front", ".")
    assert sentence.phrases == (
        Phrase(0, 2, ("people",), 50),
        Phrase(3, 5, ("scene",), 51),
        Phrase(6, 7, ("notvisual",), 0),
    )


def test_each_flag_is_told_as_it_is() -> None:
    for scene, nobndbox in ((True, False), (False, True), (True, True)):
        session = Session("[scene A road] .")
        session.apply(NoBox(REVIEWER, 1, scene, nobndbox))
        assert exported(session).unboxed == (UnboxedChain(50, scene, nobndbox),)


def test_merged_chains_share_an_id_and_a_box() -> None:
    session = Session("[people A man] and [people a father] .")
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    session.apply(BoxAdd(REVIEWER, 2, RECT))
    image = exported(session)
    assert [phrase.chain for phrase in image.sentences[0].phrases] == [50, 50]
    assert [box.chains for box in image.boxes] == [(50,)]


def test_flags_of_a_chain_that_has_boxes_now_are_not_told() -> None:
    session = Session("[scene A road] .")
    session.say("requirement/1/1", "scene", "scene")
    session.apply(BoxAdd(REVIEWER, 1, Rect(1, 1, 2, 2)))
    image = exported(session)
    assert image.unboxed == ()
    assert len(image.boxes) == 1


def test_a_caption_without_mentions_is_there() -> None:
    assert [s.phrases for s in exported(Session("Nothing here .")).sentences] == [()]
