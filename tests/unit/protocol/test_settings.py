"""The protocol's numbers: the documented defaults, and what a campaign may set instead."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import (
    CrowdSettings,
    Settings,
    named_settings,
    settings_problem,
)

PROTOCOL = Path(__file__).resolve().parents[3] / "docs" / "protocol.md"

# The least and the most that each number may be; None: no bound.
WHOLE: dict[str, tuple[int, int | None]] = {
    "nobox_votes": (1, None),
    "coverage_votes": (1, None),
    "entries_limit": (1, None),
    "bad_boxes_limit": (1, None),
    "unrelated_flags": (1, None),
    "sitting_seconds": (1, None),
    "crowd.test_tries": (1, None),
    "crowd.test_price_cents": (0, None),
    "crowd.platform_hits": (0, None),
    "crowd.platform_percent": (0, 100),
    "crowd.trust_window": (10, None),
    "crowd.show_accuracy_every": (1, None),
    "crowd.gold_leak_answers": (1, None),
    "crowd.fee_percent": (0, 100),
    "crowd.budget_cents": (0, None),
    "crowd.daily_budget_cents": (0, None),
    "crowd.wage_floor_cents": (0, None),
    "crowd.hit_days": (1, 365),
    "crowd.starved_hours": (1, None),
}
SHARES = {
    **dict.fromkeys(("merge_iou", "merge_iou_other", "test_iou"), 1.0),
    **dict.fromkeys(("crowd.probation_check_share", "crowd.check_share"), 1.0),
    **dict.fromkeys(("crowd.trust_limit", "crowd.trust_drop_limit"), 0.1),
    "crowd.gold_leak_limit": 1.0,
}
BY_STAGE: dict[str, tuple[int, int | None]] = {
    "questions_per_hit": (1, 100),
    "crowd.price_cents": (0, None),
    "crowd.hits_ceiling": (1, None),
}


def with_setting(name: str, value: object) -> Settings:
    settings = Settings()
    if not name.startswith("crowd."):
        return replace(settings, **{name: value})
    return replace(settings, crowd=replace(settings.crowd, **{name.removeprefix("crowd."): value}))


def said(value: object) -> str:
    """Write a setting as the documentation does."""
    if isinstance(value, dict):
        return ", ".join(f"{stage.value} {number}" for stage, number in value.items())
    if isinstance(value, tuple):
        return ", ".join(part if isinstance(part, str) else "/".join(part) for part in value)
    return str(value)


def test_defaults_are_the_documented_ones() -> None:
    documented = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", PROTOCOL.read_text(), re.M))
    settings = dict(named_settings(Settings()))
    assert settings.pop("version") == 1
    assert documented == {name: said(value) for name, value in settings.items()}


@pytest.mark.parametrize(("name", "bounds"), WHOLE.items())
def test_whole_numbers_have_bounds(name: str, bounds: tuple[int, int | None]) -> None:
    least, most = bounds
    assert settings_problem(with_setting(name, least)) is None
    below = f"`{name}` must be at least {least}, not {least - 1}"
    assert settings_problem(with_setting(name, least - 1)) == below
    if most is None:
        assert settings_problem(with_setting(name, 10**9)) is None
    else:
        assert settings_problem(with_setting(name, most)) is None
        above = f"`{name}` must be at most {most}, not {most + 1}"
        assert settings_problem(with_setting(name, most + 1)) == above


@pytest.mark.parametrize(("name", "most"), SHARES.items())
def test_shares_have_bounds(name: str, most: float) -> None:
    for share in (0.0, most):
        assert settings_problem(with_setting(name, share)) is None
    for share in (-0.01, 1.01):
        problem = f"`{name}` must be a share from 0 to 1, not {share:g}"
        assert settings_problem(with_setting(name, share)) == problem
    if most < 1:
        problem = f"`{name}` must be at most {most:g}, not {most + 0.01:g}"
        assert settings_problem(with_setting(name, most + 0.01)) == problem


@pytest.mark.parametrize(("name", "bounds"), BY_STAGE.items())
def test_numbers_of_the_stages_have_bounds(name: str, bounds: tuple[int, int | None]) -> None:
    least, most = bounds
    for number in (least, 10**9 if most is None else most):
        assert settings_problem(with_setting(name, dict.fromkeys(Stage, number))) is None
    numbers = dict.fromkeys(Stage, least) | {Stage.QUALITY: least - 1}
    problem = f"`{name}.quality` must be at least {least}, not {least - 1}"
    assert settings_problem(with_setting(name, numbers)) == problem
    if most is not None:
        numbers |= {Stage.QUALITY: most + 1}
        problem = f"`{name}.quality` must be at most {most}, not {most + 1}"
        assert settings_problem(with_setting(name, numbers)) == problem


def test_settings_that_contradict_each_other() -> None:
    def problem(**crowd: int) -> str | None:
        return settings_problem(Settings(crowd=CrowdSettings(**crowd)))  # type: ignore[arg-type]

    assert problem(probation_items=60) is None
    assert problem(probation_items=61, gold_needed=61) is not None
    assert problem(probation_items=60, gold_needed=59) is not None
    assert problem(approval_hours=600, auto_approval_hours=601) is None
    assert problem(approval_hours=600, auto_approval_hours=600) is not None
    assert problem(approval_hours=601, auto_approval_hours=720) is not None
    assert problem(auto_approval_hours=721) is not None
    assert problem(approval_hours=-1) == "`crowd.approval_hours` must be at least 0, not -1"
