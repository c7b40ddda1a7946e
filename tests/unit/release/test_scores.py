"""How close annotation comes to an answer key."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.geometry import Rect
from annotation.pipeline.release.scores import Score, b_cubed, box_score


def test_b_cubed_of_a_known_case() -> None:
    # Found {1, 2, 3} and {4}; gold {1, 2} and {3, 4}.
    score = b_cubed({1: "a", 2: "a", 3: "a", 4: "b"}, {1: "x", 2: "x", 3: "y", 4: "y"})
    assert score.precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    assert score.recall == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    assert score.f1 == pytest.approx(2 * score.precision * score.recall / (2 / 3 + 3 / 4))


partitions = st.lists(st.integers(0, 3), min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(partitions, st.data())
def test_b_cubed_is_perfect_only_for_the_same_partition(
    found: list[int], data: st.DataObject
) -> None:
    gold = data.draw(st.lists(st.integers(0, 3), min_size=len(found), max_size=len(found)))
    score = b_cubed(dict(enumerate(found)), dict(enumerate(gold)))
    pairs = [(a, b) for a in range(len(found)) for b in range(a)]
    same = all((found[a] == found[b]) == (gold[a] == gold[b]) for a, b in pairs)
    assert (score.f1 == pytest.approx(1.0)) == same
    back = b_cubed(dict(enumerate(gold)), dict(enumerate(found)))
    assert (back.precision, back.recall) == pytest.approx((score.recall, score.precision))


def test_boxes_are_matched_one_to_one_best_first() -> None:
    gold = [Rect(1, 1, 10, 10), Rect(21, 1, 30, 10)]
    found = [Rect(1, 1, 10, 9), Rect(1, 1, 10, 10), Rect(50, 50, 60, 60)]
    score = box_score(found, gold, 0.5)
    assert (score.precision, score.recall) == (1 / 3, 1 / 2)
    assert score.f1 == pytest.approx(0.4)


def test_a_box_counts_from_the_threshold_on() -> None:
    gold, found = [Rect(1, 1, 10, 10)], [Rect(1, 1, 10, 8)]
    assert box_score(found, gold, 0.8).f1 == 1.0
    assert box_score(found, gold, 0.81).f1 == 0.0


def test_images_add_up() -> None:
    total = Score(1.0, 2, 1.0, 1) + Score(3.0, 3, 2.0, 4)
    assert (total.precision, total.recall) == (0.8, 0.6)


def test_nothing_found_and_nothing_wanted_is_perfect() -> None:
    assert box_score([], [], 0.5).f1 == 1.0
    assert box_score([], [Rect(1, 1, 2, 2)], 0.5).f1 == 0.0
