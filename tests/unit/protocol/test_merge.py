"""After the crowd: boxes that are really one, chains that share all their boxes."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.protocol.facts import AcceptedImport, BoxAdd, ImportedBox, ImportedChain
from annotation.pipeline.protocol.merge import (
    MergedBox,
    MergedChain,
    merge,
    merge_boxes,
    merge_chains,
)
from annotation.pipeline.protocol.settings import Settings
from tests.unit.protocol.images import REVIEWER, Session

# Ten pixels high and 1 pixel wide for each hundredth, so that IoU can be read off.
WHOLE = Rect(1, 1, 100, 10)


def share(hundredths: int) -> Rect:
    """Return a rectangle whose IoU with WHOLE is that many hundredths."""
    return Rect(1, 1, hundredths, 10)


def boxes(*rects: Rect, chains: tuple[int, ...] | None = None) -> list[MergedBox]:
    owners = chains or tuple(range(1, len(rects) + 1))
    return [
        MergedBox(number=number, rect=rect, chains=(owner,))
        for number, (rect, owner) in enumerate(zip(rects, owners, strict=True), start=1)
    ]


def types(*names: str) -> dict[int, frozenset[str]]:
    return {n: frozenset(name.split("/")) for n, name in enumerate(names, start=1)}


@pytest.mark.parametrize(
    ("kinds", "hundredths", "merged"),
    [
        (("people", "people"), 80, True),
        (("people", "people"), 79, False),
        (("people", "animals"), 80, True),
        (("people", "other"), 89, False),
        (("people", "other"), 90, True),
        (("other", "other"), 89, False),
        (("other", "other"), 90, True),
        (("people/other", "people"), 89, False),
    ],
)
def test_the_cutoffs(kinds: tuple[str, str], hundredths: int, merged: bool) -> None:
    found = merge_boxes(boxes(WHOLE, share(hundredths)), types(*kinds), Settings())
    assert len(found) == (1 if merged else 2)


@pytest.mark.parametrize(
    "kinds",
    [("clothing", "people"), ("bodyparts", "people"), ("bodyparts", "clothing")],
)
def test_incompatible_types_are_never_merged(kinds: tuple[str, str]) -> None:
    for pair in (kinds, kinds[::-1]):
        assert len(merge_boxes(boxes(WHOLE, WHOLE), types(*pair), Settings())) == 2


def test_types_are_those_of_all_chains_a_merged_box_belongs_to() -> None:
    # 1 and 2 become one, which is then of people too: clothing must stay apart.
    found = merge_boxes(
        boxes(WHOLE, WHOLE, share(95)), types("people", "vehicles", "clothing"), Settings()
    )
    assert [box.chains for box in found] == [(1, 2), (3,)]


def test_the_earlier_rectangle_survives_under_its_number() -> None:
    (box,) = merge_boxes(boxes(share(90), WHOLE), types("people", "people"), Settings())
    assert (box.number, box.rect, box.chains) == (1, share(90), (1, 2))


def test_the_best_pair_goes_first() -> None:
    # 2 and 3 overlap most and leave 2, which 1 fits; had 1 taken 2 first, 3 would be left over.
    rects = (share(85), share(100), share(112))
    assert iou(rects[1], rects[2]) > iou(rects[0], rects[1]) >= 0.8 > iou(rects[0], rects[2])
    (box,) = merge_boxes(boxes(*rects), types("people", "people", "people"), Settings())
    assert (box.number, box.rect, box.chains) == (1, share(85), (1, 2, 3))


def test_iou_is_computed_anew_after_each_merge() -> None:
    # 1 and 2 are the best pair and leave 1; 3 would have fitted 2 and does not fit 1.
    rects = (share(72), share(80), share(100))
    found = merge_boxes(boxes(*rects), types("people", "people", "people"), Settings())
    assert iou(rects[1], rects[2]) == 0.8
    assert [(box.number, box.chains) for box in found] == [(1, (1, 2)), (3, (3,))]


def test_of_equal_pairs_the_earliest_boxes_go_first() -> None:
    # 2 lies as near to 1 as to 3, which are too far from each other.
    rects = (share(81), share(90), share(100))
    assert iou(rects[0], rects[1]) == iou(rects[1], rects[2]) == 0.9
    strict = Settings(merge_iou=0.85)
    found = merge_boxes(boxes(*rects), types("people", "people", "people"), strict)
    assert [box.chains for box in found] == [(1, 2), (3,)]


def test_several_boxes_of_one_chain_merge_too() -> None:
    found = merge_boxes(boxes(WHOLE, share(90), chains=(1, 1)), types("people"), Settings())
    assert [box.chains for box in found] == [(1,)]


def test_imported_boxes_are_never_merged() -> None:
    one = MergedBox(number=1, rect=WHOLE, chains=(1,), imported=True)
    two = MergedBox(number=2, rect=WHOLE, chains=(2,))
    assert len(merge_boxes([one, two], types("people", "people"), Settings())) == 2


def test_the_order_in_which_boxes_are_given_does_not_matter() -> None:
    given_boxes = boxes(share(72), share(80), share(90), share(100))
    kinds = types("people", "animals", "people", "vehicles")
    results = [merge_boxes(list(p), kinds, Settings()) for p in permutations(given_boxes)]
    assert all(result == results[0] for result in results)


small = st.integers(1, 12)
rects = st.builds(
    lambda x, y, w, h: Rect(x, y, x + w, y + h), st.integers(1, 3), st.integers(1, 3), small, small
)
kinds = st.sampled_from(["people", "clothing", "other", "vehicles", "people/other"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(rects, kinds), max_size=7))
def test_after_merging_no_pair_is_left_and_no_chain_lost(things: list[tuple[Rect, str]]) -> None:
    kinds_of = types(*(kind for _, kind in things))
    found = merge_boxes(boxes(*(rect for rect, _ in things)), kinds_of, Settings())
    assert sorted(n for box in found for n in box.chains) == list(range(1, len(things) + 1))
    for n, one in enumerate(found):
        assert one.number == min(one.chains)
        for two in found[n + 1 :]:
            both = frozenset().union(*(kinds_of[c] for c in one.chains + two.chains))
            apart = {"people", "clothing"} <= both
            limit = 0.9 if "other" in both else 0.8
            assert apart or iou(one.rect, two.rect) < limit
        assert not {"people", "clothing"} <= frozenset().union(*(kinds_of[c] for c in one.chains))


# Chains


def chains(count: int, imported: tuple[int, ...] = ()) -> list[MergedChain]:
    return [MergedChain(n, (n,), imported=n in imported) for n in range(1, count + 1)]


def test_chains_with_exactly_the_same_boxes_become_one() -> None:
    shared = [MergedBox(1, WHOLE, (1, 2, 3)), MergedBox(2, share(10), (1, 2))]
    merged = merge_chains(chains(3), shared)
    assert [(c.number, c.mentions) for c in merged.chains] == [(1, (1, 2)), (3, (3,))]
    assert [box.chains for box in merged.boxes] == [(1, 3), (1,)]


def test_chains_without_boxes_stay_apart() -> None:
    assert len(merge_chains(chains(2), []).chains) == 2


def test_imported_chains_stay_apart() -> None:
    merged = merge_chains(chains(3, imported=(1,)), [MergedBox(1, WHOLE, (1, 2, 3))])
    assert [c.mentions for c in merged.chains] == [(1,), (2, 3)]


def test_a_merged_chain_may_hold_two_mentions_of_one_caption_and_the_state_stays() -> None:
    session = Session("[people A man] and [people a father] .")
    session.apply(BoxAdd(REVIEWER, 1, WHOLE))
    session.apply(BoxAdd(REVIEWER, 2, share(95)))
    before = session.state
    merged = merge(session.state, Settings())
    assert [c.mentions for c in merged.chains] == [(1, 2)]
    assert [(box.rect, box.chains) for box in merged.boxes] == [(WHOLE, (1,))]
    assert session.state == before
    assert len(session.state.chains) == 2


def test_discarded_and_removed_boxes_are_not_merged_into_anything() -> None:
    session = Session("[people A man] .")
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "bad")
    assert merge(session.state, Settings()).boxes == ()


def test_an_accepted_import_comes_out_as_it_went_in() -> None:
    session = Session("[people A man] and [people a father] .")
    session.apply(
        AcceptedImport(
            chains=(ImportedChain((1,)), ImportedChain((2,))),
            boxes=(ImportedBox((1, 2), WHOLE), ImportedBox((1, 2), share(95))),
        )
    )
    merged = merge(session.state, Settings())
    assert [c.mentions for c in merged.chains] == [(1,), (2,)]
    assert [box.chains for box in merged.boxes] == [(1, 2), (1, 2)]
