"""The settings of the protocol. The defaults are the paper's; a campaign may change them."""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from annotation.pipeline.mentions.mention import BODYPARTS, CLOTHING, PEOPLE
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of

# The most questions of one sitting; the task pages cannot submit more.
MOST_QUESTIONS = 100


class DrawingWay(StrEnum):
    """How boxes are drawn: one fixed way, the worker's choice, or a random way per sitting."""

    DRAG = "drag"
    EXTREME = "extreme"
    CHOICE = "choice"
    RANDOM = "random"


class DoubtSince(StrEnum):
    """From when on a revoked worker's judgments are doubted; see `trust/revocation.py`."""

    LAST_PASSED = "last_passed"
    DROP = "drop"


class CrowdSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Trust, checks and pay of a campaign. The fold of facts does not depend on these."""

    # How often a worker may take the test, and what it pays: nothing, as on Mechanical Turk.
    test_tries: int = 2
    test_price_cents: int = 0
    # Approved HITs, and the approval percentage, that a newcomer needs on the platform. 0 asks for
    # nothing; the paper asked for 500 and 95.
    platform_hits: int = 0
    platform_percent: int = 0
    # Checked items after which probation may end, and after which it must end either way.
    probation_items: int = 30
    probation_limit: int = 60
    # The share of a sitting's questions that are gold questions.
    probation_check_share: float = 1.0
    check_share: float = 0.02
    # Trust depends on the probability that the worker's accuracy is at least the minimum. A worker
    # loses trust if the latest `trust_window` checks put that below `trust_limit`, or if fewer
    # checks put it below `trust_drop_limit`. With limits of 0 only people end trust.
    trust_window: int = 30
    trust_limit: float = 0.003
    trust_drop_limit: float = 0.00001
    doubt_since: DoubtSince = DoubtSince.DROP
    # A worker who loses trust at one stage goes back to probation at the others.
    shake_others: bool = True
    # The number of checked items between updates of the accuracy that workers see.
    show_accuracy_every: int = 10

    # Gold questions that each stage needs before launch; Drawing needs none.
    gold_needed: int = 60
    # A question counts as leaked after at least this many right answers in a row, if such a run
    # was less probable than the limit.
    gold_leak_answers: int = 20
    gold_leak_limit: float = 0.01

    # What a HIT pays: the average times of the paper's supplement, at $12 an hour.
    price_cents: dict[Stage, int] = msgspec.field(
        default_factory=lambda: {stage: spec_of(stage).price_cents for stage in Stage}
    )
    # The marketplace's fee, on top of the price.
    fee_percent: int = 0
    # The most to spend, fees included, in total and per day. With 0 only unpaid HITs are published.
    budget_cents: int = 0
    daily_budget_cents: int = 0
    # The dashboard warns of an hourly wage below this.
    wage_floor_cents: int = 800
    # The most HITs of a stage that wait for workers at once.
    hits_ceiling: dict[Stage, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys(Stage, 100)
    )
    # How long a HIT waits for a worker before it is published again.
    hit_days: int = 7
    # How long a researcher can reject a submitted HIT before it is paid; 0: pay at once.
    approval_hours: int = 0
    # After this long without our decision, the platform pays automatically.
    auto_approval_hours: int = 168
    # How long questions are reserved for a worker before the marketplace has proven that they
    # accepted the HIT. Every answer restarts this time, up to `sitting_seconds` in total.
    unproven_minutes: int = 10
    # A question that no current worker may answer goes to review after this long.
    starved_hours: int = 24


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of a campaign's settings. A fact always folds under the version it names."""

    version: int = 1

    # Box Requirement is skipped for chains with a mention of these types: one standing vote "box".
    standing_box_types: tuple[str, ...] = spec_of(Stage.REQUIREMENT).skipped_types
    # A chain becomes non-visual with this many votes against a box, if they outnumber the others.
    nobox_votes: int = 2
    # A chain is complete with this many votes for completeness, if they outnumber the others.
    coverage_votes: int = 2
    # A chain goes to review after more entries than this into Requirement or Coverage without a new
    # box.
    entries_limit: int = 3
    # A chain goes to review after this many bad boxes in a row.
    bad_boxes_limit: int = 3
    # A caption is unrelated to its image when this many workers say so.
    unrelated_flags: int = 2

    # Boxes that overlap this much become one at release time ...
    merge_iou: float = 0.8
    # ... or this much, if a chain of type "other" is involved ...
    merge_iou_other: float = 0.9
    # ... unless their types must stay apart.
    incompatible_types: tuple[tuple[str, str], ...] = (
        (CLOTHING, PEOPLE),
        (BODYPARTS, PEOPLE),
        (BODYPARTS, CLOTHING),
    )

    # Questions in a HIT (supplement, Table 1).
    questions_per_hit: dict[Stage, int] = msgspec.field(
        default_factory=lambda: {stage: spec_of(stage).questions_per_hit for stage in Stage}
    )
    # The share of right answers that a worker must reach and keep (supplement, Table 1).
    minimum_performance: dict[Stage, float] = msgspec.field(
        default_factory=lambda: {stage: spec_of(stage).minimum_accuracy for stage in Stage}
    )
    # How long a sitting's questions are reserved for its worker.
    sitting_seconds: int = 3600
    # The ways of drawing a box that workers get.
    drawing_way: DrawingWay = DrawingWay.CHOICE
    # In a qualification test a box is right if it overlaps the expected one this much.
    test_iou: float = 0.7
    # Trust, checks and pay.
    crowd: CrowdSettings = CrowdSettings()


# Bounds that differ from the usual ones: whole numbers from 1, shares from 0 to 1.
_LEAST = {
    "crowd.platform_hits": 0,
    "crowd.platform_percent": 0,
    "crowd.trust_window": 10,
    "crowd.test_price_cents": 0,
    "crowd.price_cents": 0,
    "crowd.approval_hours": 0,
    "crowd.fee_percent": 0,
    "crowd.budget_cents": 0,
    "crowd.daily_budget_cents": 0,
    "crowd.wage_floor_cents": 0,
}
_MOST: dict[str, float] = {
    "questions_per_hit": MOST_QUESTIONS,
    "crowd.platform_percent": 100,
    # Above this, a few unlucky answers would end trust at every stage.
    "crowd.trust_limit": 0.1,
    "crowd.trust_drop_limit": 0.1,
    "crowd.fee_percent": 100,
    # Limits of MTurk: a year, and thirty days.
    "crowd.hit_days": 365,
    "crowd.approval_hours": 600,
    "crowd.auto_approval_hours": 720,
}


def settings_problem(settings: Settings) -> str | None:
    """Explain in plain words which setting is unusable; None if all are usable.

    >>> settings_problem(Settings(coverage_votes=0))
    '`coverage_votes` must be at least 1, not 0'
    >>> settings_problem(Settings(crowd=CrowdSettings(check_share=2.0)))
    '`crowd.check_share` must be a share from 0 to 1, not 2'
    """
    for name, value in named_settings(settings):
        if isinstance(value, dict) and set(value) != set(Stage):
            missing = ", ".join(stage.value for stage in Stage if stage not in value)
            return f"`{name}` has no value for {missing}"
        parts = value if isinstance(value, dict) else {None: value}
        for stage, part in parts.items():
            problem = _number_problem(name, part)
            if problem:
                return f"`{name}.{stage}` {problem}" if stage else f"`{name}` {problem}"
    return _crowd_problem(settings.crowd)


def named_settings(settings: msgspec.Struct, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield every setting with its name; settings of a group are named like `crowd.check_share`."""
    for name in settings.__struct_fields__:
        value = getattr(settings, name)
        if isinstance(value, msgspec.Struct):
            yield from named_settings(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _number_problem(name: str, value: object) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and not 0 <= value <= 1:
        return f"must be a share from 0 to 1, not {value:g}"
    if isinstance(value, int) and value < _LEAST.get(name, 1):
        return f"must be at least {_LEAST.get(name, 1)}, not {value}"
    if isinstance(value, int | float) and value > _MOST.get(name, value):
        return f"must be at most {_MOST[name]:g}, not {value:g}"
    return None


def _crowd_problem(crowd: CrowdSettings) -> str | None:
    if crowd.probation_limit < crowd.probation_items:
        return (
            f"`crowd.probation_limit` must be at least `crowd.probation_items` "
            f"({crowd.probation_items}), not {crowd.probation_limit}"
        )
    if crowd.approval_hours >= crowd.auto_approval_hours:
        return (
            f"`crowd.auto_approval_hours` must be more than `crowd.approval_hours` "
            f"({crowd.approval_hours}), not {crowd.auto_approval_hours}"
        )
    if crowd.gold_needed < crowd.probation_items:
        # No gold question is shown twice, so probation could never end.
        return (
            f"`crowd.gold_needed` must be at least `crowd.probation_items` "
            f"({crowd.probation_items}), not {crowd.gold_needed}"
        )
    return None
