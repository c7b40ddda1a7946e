"""Mixing verification questions into a sitting."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.mixing import check_places, checks_wanted, mix
from annotation.pipeline.questions import Stage
from annotation.pipeline.settings import CrowdSettings
from annotation.pipeline.trust import Trust

CROWD = CrowdSettings()


def test_in_probation_all_are_verification_questions() -> None:
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


def test_every_place_is_as_likely() -> None:
    found = Counter(place for n in range(5000) for place in check_places(10, 1, f"s{n}"))
    assert set(found) == set(range(1, 11))
    assert max(found.values()) - min(found.values()) < 200


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(10, 19)), st.text())
def test_mixing_keeps_all_in_order(questions: list[int], checks: list[int], seed: str) -> None:
    mixed = mix(questions, checks, seed)
    assert [item for item in mixed if item < 10] == questions
    assert [item for item in mixed if item >= 10] == checks
    assert mixed == mix(questions, checks, seed)
