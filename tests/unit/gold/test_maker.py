"""Gold questions made from what is known of an image."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.corpus.corpus_image import annotation_of
from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.gold.boxes import BAD_IOU, SAME_IOU, bad_boxes
from annotation.pipeline.gold.gold_question import (
    GoldSource,
    decode_gold,
    encode_gold,
    gold_problem,
)
from annotation.pipeline.gold.known_images import (
    known_annotation,
)
from annotation.pipeline.gold.maker import APART_IOU, make_gold
from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.release.folder import (
    ReleasedBox,
)
from annotation.pipeline.work.display import shown
from tests.unit.gold.park import (
    BALL,
    DOG,
    GIRL,
    MAN,
    PUPPY,
    SETTINGS,
    known_park,
    made,
    park,
    park_state,
    words,
)


def test_the_order_of_chains_changes_no_pairs() -> None:
    known = known_park()
    turned = replace(known, chains=known.chains[::-1])
    pairs = {frozenset(words(gold)) for gold in made(Stage.LINKS, known)}
    assert frozenset({"A man", "A girl"}) in pairs
    assert {frozenset(words(gold)) for gold in made(Stage.LINKS, turned)} == pairs


def test_all_that_is_made_makes_sense() -> None:
    for stage in Stage:
        golds = made(stage)
        assert bool(golds) == (stage is not Stage.DRAWING)
        for gold in golds:
            assert gold_problem(gold, park_state()) is None
            assert gold.source is GoldSource.IMPORTED
            assert decode_gold(encode_gold(gold)) == gold
        if golds:
            assert {gold.answer for gold in golds} == set(spec_of(stage).answers)


def test_the_same_seed_makes_the_same() -> None:
    for stage in Stage:
        once = make_gold(known_park(), stage, SETTINGS, "seed")
        assert once == make_gold(known_park(), stage, SETTINGS, "seed")
        # And few of each answer.
        assert max(Counter(gold.answer for gold in once).values(), default=0) <= 2


def test_links_within_a_chain_and_between_chains() -> None:
    by_answer = {
        answer: {words(g) for g in made(Stage.LINKS) if g.answer == answer}
        for answer in ("yes", "no")
    }
    assert by_answer["yes"] == {
        ("A tall person", "A man"),
        ("dogs", "two dogs"),
        ("two puppies", "two dogs"),
        ("two puppies", "dogs"),
        ("the toy", "a red ball"),
    }
    # Not with the crowd, whose boxes are theirs; not across types; not what has no box.
    assert by_answer["no"] == {("A girl", "A man"), ("A girl", "A tall person")}


def test_links_show_what_the_page_would() -> None:
    gold = next(g for g in made(Stage.LINKS) if words(g) == ("dogs", "two dogs"))
    numbers = tuple(mark.mention for mark in gold.shown.marks)
    assert gold.shown == shown(park_state(), Question(stage=Stage.LINKS, subject=numbers))


def test_verification_true_and_with_a_foreign_phrase() -> None:
    golds = made(Stage.VERIFICATION)
    assert {words(g) for g in golds if g.answer == "true"} == {
        ("A man", "A tall person"),
        ("two dogs", "dogs", "two puppies"),
        ("a red ball", "the toy"),
    }
    false = {words(g) for g in golds if g.answer == "false"}
    assert false == {
        ("A man", "A tall person", "A girl"),
        ("A tall person", "A girl"),
        ("A man", "A girl"),
    }
    assert all(g.shown.captions == (1, 2, 3, 4) for g in golds)


def test_requirement_leaves_out_what_is_not_asked_and_what_is_both() -> None:
    golds = made(Stage.REQUIREMENT)
    assert {(words(g), g.answer) for g in golds} == {
        (("a red ball",), "box"),
        (("two puppies",), "box"),
        (("a park",), "scene"),
        (("a nice day",), "nobox"),
    }


def test_quality_good_and_bad_in_every_way() -> None:
    golds = made(Stage.QUALITY)
    right = {"A man": [MAN], "A tall person": [MAN], "A girl": [GIRL], "two puppies": [DOG, PUPPY]}
    right |= {"a red ball": [BALL], "The crowd": [MAN, GIRL]}
    for gold in golds:
        candidate = gold.shown.candidate
        assert candidate is not None
        free = [rect for rect in right[words(gold)[0]] if rect not in gold.shown.boxes]
        best = max((iou(candidate, rect) for rect in free), default=0.0)
        assert best == 1 if gold.answer == "good" else best <= BAD_IOU
    assert {gold.kind for gold in golds} == {
        "",
        "loose",
        "cut",
        "shifted",
        "wrong thing",
        "several things",
        "already covered",
    }


def test_a_wrong_thing_is_of_a_type_that_the_phrase_does_not_have() -> None:
    people, animals, things = {MAN, GIRL}, {DOG, PUPPY}, {BALL}
    foreign = {"A man": animals | things, "A girl": animals | things, "The crowd": animals | things}
    foreign |= {"A tall person": animals | things, "a red ball": people | animals}
    foreign |= {"two puppies": people | things}
    shown: dict[str, set[Rect | None]] = {}
    for gold in made(Stage.QUALITY):
        if gold.kind == "wrong thing":
            shown.setdefault(words(gold)[0], set()).add(gold.shown.candidate)
    assert {"A girl", "a red ball", "two puppies"} <= set(shown)
    assert all(shown[phrase] <= foreign[phrase] for phrase in shown)


def test_coverage_with_all_and_without_one() -> None:
    golds = made(Stage.COVERAGE)
    assert {(words(g)[0], g.shown.boxes) for g in golds if g.answer == "no"} == {
        ("two puppies", (DOG,)),
        ("two puppies", (PUPPY,)),
        ("The crowd", (MAN,)),
        ("The crowd", (GIRL,)),
    }
    assert {(words(g)[0], g.shown.boxes) for g in golds if g.answer == "yes"} == {
        ("A tall person", (MAN,)),
        ("A girl", (GIRL,)),
        ("two puppies", (DOG, PUPPY)),
        ("a red ball", (BALL,)),
        ("The crowd", (MAN, GIRL)),
    }


def test_things_that_overlap_by_just_three_tenths_are_still_apart() -> None:
    first, second = Rect(1, 1, 130, 200), Rect(71, 1, 200, 200)
    assert iou(first, second) == APART_IOU
    released = park()
    boxes = [box for box in released.boxes if box.chains != (3,)]
    boxes += [ReleasedBox(chains=(3,), rect=rect) for rect in (first, second)]
    annotation = annotation_of(replace(released, boxes=tuple(boxes)))
    known = known_annotation("park", park_state(), annotation)
    missing = {g.shown.boxes for g in made(Stage.COVERAGE, known) if words(g)[0] == "two puppies"}
    assert {(first,), (second,)} <= missing


def test_a_small_thing_may_be_overlooked() -> None:
    known = known_park()
    dogs = next(chain for chain in known.chains if DOG in chain.rects)
    small = replace(dogs, rects=(DOG, Rect(300, 210, 325, 225)))
    golds = made(Stage.COVERAGE, replace(known, chains=(small,)))
    assert {g.shown.boxes for g in golds if g.answer == "no"} == {(Rect(300, 210, 325, 225),)}


def _rect(xs: tuple[int, int], ys: tuple[int, int]) -> Rect:
    return Rect(min(xs), min(ys), max(xs), max(ys))


across, down = st.integers(1, 300), st.integers(1, 200)
rects = st.builds(_rect, st.tuples(across, across), st.tuples(down, down))


@given(st.lists(rects, min_size=1, max_size=4), st.lists(rects, max_size=3), st.integers())
def test_bad_boxes_are_surely_bad(own: list[Rect], foreign: list[Rect], seed: int) -> None:
    for bad in bad_boxes(own, foreign, 300, 200, Random(seed)):
        assert 1 <= bad.rect.xmin <= bad.rect.xmax <= 300
        assert 1 <= bad.rect.ymin <= bad.rect.ymax <= 200
        assert min(bad.rect.width, bad.rect.height) >= 10
        assert all(iou(bad.rect, good) <= BAD_IOU for good in own if good not in bad.others)
        if bad.kind == "already covered":
            assert iou(bad.rect, bad.others[0]) >= SAME_IOU
        else:
            # Red boxes are other things: the blue one is not bad for being round one of them.
            assert all(iou(bad.rect, other) <= BAD_IOU for other in bad.others)
