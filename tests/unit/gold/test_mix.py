"""Mixing gold questions into a sitting."""

from collections import Counter
from collections.abc import Iterator
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.gold.mix import LOOKED_AT_PER_WANTED, checks_wanted, mix, spread
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.trust.standing import Trust

CROWD = CrowdSettings()


def test_in_probation_all_are_gold_questions() -> None:
    for stage in Stage:
        found = checks_wanted(stage, Trust.PROBATION, 10, CROWD, "s")
        assert found == (0 if stage is Stage.DRAWING else 10)


@pytest.mark.parametrize(("share", "size"), [(0.02, 10), (0.02, 5), (0.25, 10), (0.3, 5)])
def test_the_share_is_right_in_the_long_run(share: float, size: int) -> None:
    crowd = CrowdSettings(check_share=share)
    sittings = 4000
    found = Counter(
        checks_wanted(Stage.LINKS, Trust.TRUSTED, size, crowd, f"secret/{n}")
        for n in range(sittings)
    )
    # Each sitting has the number just below or just above the exact one.
    assert max(found) - min(found) <= 1
    total = sum(checks * times for checks, times in found.items())
    expected = share * size * sittings
    # Four standard deviations of a draw by lot.
    assert abs(total - expected) <= 4 * (sittings / 4) ** 0.5


def test_a_whole_number_is_no_matter_of_lot() -> None:
    crowd = CrowdSettings(check_share=0.1)
    counts = {checks_wanted(Stage.LINKS, Trust.TRUSTED, 30, crowd, str(n)) for n in range(200)}
    assert counts == {3}
    none = CrowdSettings(check_share=0.0)
    assert {checks_wanted(Stage.LINKS, Trust.TRUSTED, 10, none, str(n)) for n in range(99)} == {0}


def test_checks_are_as_likely_at_every_place() -> None:
    found = Counter(mix("abcde", "X", f"s{n}").index("X") for n in range(6000))
    assert set(found) == set(range(6))
    # Five standard deviations of a draw by lot.
    assert all(abs(times - 1000) < 5 * (6000 * 5 / 36) ** 0.5 for times in found.values())


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(10, 19)), st.text())
def test_mixing_keeps_all_and_the_order_of_each_kind(
    questions: list[int], checks: list[int], seed: str
) -> None:
    mixed = mix(questions, checks, seed)
    assert [one for one in mixed if one < 10] == questions
    assert [one for one in mixed if one >= 10] == checks
    assert mixed == mix(questions, checks, seed)


# Questions by their image and their place in line.
QUESTIONS = st.lists(st.integers(0, 8), max_size=60).map(lambda images: list(enumerate(images)))


@given(QUESTIONS, st.integers(0, 12), st.sets(st.integers(0, 8)))
def test_spreading_over_images(line: list[tuple[int, int]], wanted: int, had: set[int]) -> None:
    read: list[tuple[int, int]] = []

    def reading() -> Iterator[tuple[int, int]]:
        for question in line:
            read.append(question)
            yield question

    chosen = spread(reading(), itemgetter(1), wanted, had)
    assert len(chosen) == len(set(chosen)) == min(wanted, len(line))
    assert len(read) <= LOOKED_AT_PER_WANTED * wanted
    new = list(dict.fromkeys(image for _, image in read if image not in had))
    images = [image for _, image in chosen]
    # The first question of each image that is new to the sitting, and others only to fill up.
    assert images[: len(new)] == new[:wanted]
    firsts = {image: number for number, image in reversed(line)}
    assert all(firsts[image] == number for number, image in chosen[: len(new)])
    if len(new) < wanted:
        assert chosen[len(new) :] == sorted(chosen[len(new) :])
        assert len(read) == min(len(line), LOOKED_AT_PER_WANTED * wanted)
