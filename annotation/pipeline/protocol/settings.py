"""The numbers of the protocol. The paper's are the defaults; a campaign may set its own."""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from annotation.pipeline.mentions.mention import BODYPARTS, CLOTHING, PEOPLE
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of

# What a worker may be given at once; the task pages hand in no more.
MOST_QUESTIONS = 100


class DrawingWay(StrEnum):
    """How boxes are drawn: one way for all, as the worker likes, or one way by lot a sitting."""

    DRAG = "drag"
    EXTREME = "extreme"
    CHOICE = "choice"
    RANDOM = "random"


class DoubtSince(StrEnum):
    """From where on a revoked worker's judgments are doubted; see `trust.py`."""

    LAST_PASSED = "last_passed"
    DROP = "drop"


class CrowdSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whom a campaign trusts, what it checks and what it pays. No fact folds by these."""

    # How often the test may be taken, and what it pays: nothing, as tests of qualification did.
    test_tries: int = 2
    test_price_cents: int = 0
    # A newcomer's record on the platform: HITs approved, and their percentage. 0 asks for none;
    # the paper's are 500 and 95.
    platform_hits: int = 0
    platform_percent: int = 0
    # Checked items after which probation may end, and after which it does end, well or not.
    probation_items: int = 30
    probation_limit: int = 60
    # The share of a sitting's questions that are gold questions.
    probation_check_share: float = 1.0
    check_share: float = 0.02
    # Trust is lost when, by the latest checks, as many as the window holds, the probability that
    # the worker's accuracy is at least the minimum falls below the limit; or, by fewer of them,
    # below the second limit. Limits of 0 leave it to people.
    trust_window: int = 30
    trust_limit: float = 0.003
    trust_drop_limit: float = 0.00001
    doubt_since: DoubtSince = DoubtSince.DROP
    # Whoever loses trust at one stage goes back to probation at the others.
    shake_others: bool = True
    # Workers learn their accuracy after so many checked items, and not in between.
    show_accuracy_every: int = 10

    # Gold questions that each stage needs before launch; Drawing needs none.
    gold_needed: int = 60
    # One is leaked when at least so many in a row were right and that was less likely than this.
    gold_leak_answers: int = 20
    gold_leak_limit: float = 0.01

    # What a HIT pays: the supplement's average times at $12 an hour.
    price_cents: dict[Stage, int] = msgspec.field(
        default_factory=lambda: {stage: spec_of(stage).price_cents for stage in Stage}
    )
    # The marketplace's share, on top of it.
    fee_percent: int = 0
    # What may be spent, fees included; with 0 nothing is published that costs anything.
    budget_cents: int = 0
    daily_budget_cents: int = 0
    # An hourly wage below this is warned of.
    wage_floor_cents: int = 800
    # HITs of a stage that may wait for workers at once.
    hits_ceiling: dict[Stage, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys(Stage, 100)
    )
    # How long a HIT waits for a worker before it is published anew.
    hit_days: int = 7
    # How long a submitted HIT waits for a researcher's word before it is paid; 0: not at all.
    approval_hours: int = 0
    # If nothing is heard from us for so long, the platform pays by itself.
    auto_approval_hours: int = 168
    # How long questions are kept for somebody of whom the marketplace has not proven that they
    # have accepted the HIT; every answer keeps them as long again, up to `sitting_seconds` in all.
    unproven_minutes: int = 10
    # A question that nobody may answer goes to review after this long.
    starved_hours: int = 24


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of a campaign's settings. A fact folds under the version it was made under."""

    version: int = 1

    # Box Requirement is skipped for chains with a mention of these types: one standing vote "box".
    standing_box_types: tuple[str, ...] = spec_of(Stage.REQUIREMENT).skipped_types
    # A chain leaves as non-visual with this many votes against a box, if they outnumber the others.
    nobox_votes: int = 2
    # A chain is complete with this many votes for it, if they outnumber the others.
    coverage_votes: int = 2
    # More entries into Requirement or Coverage without a new box, and the chain goes to review.
    entries_limit: int = 3
    # As many bad boxes in a row, and the chain goes to review.
    bad_boxes_limit: int = 3
    # A caption is unrelated to its image when this many workers say so.
    unrelated_flags: int = 2

    # Boxes that overlap this much become one at release time ...
    merge_iou: float = 0.8
    # ... or this much, where a chain of type "other" is involved ...
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
    # A sitting's questions are kept for its worker for this long.
    sitting_seconds: int = 3600
    # Which ways of drawing a box workers get.
    drawing_way: DrawingWay = DrawingWay.CHOICE
    # In a qualification test a box is right if it overlaps the expected one this much.
    test_iou: float = 0.7
    # Whom to trust, what to check and what to pay.
    crowd: CrowdSettings = CrowdSettings()


# Bounds other than the usual: whole numbers from 1, shares from 0 to 1.
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
    # Above this, a few unlucky answers would do at every stage.
    "crowd.trust_limit": 0.1,
    "crowd.trust_drop_limit": 0.1,
    "crowd.fee_percent": 100,
    # What MTurk takes: a year, and thirty days.
    "crowd.hit_days": 365,
    "crowd.approval_hours": 600,
    "crowd.auto_approval_hours": 720,
}


def settings_problem(settings: Settings) -> str | None:
    """Say in plain words which setting no campaign could work under, or None if all are usable.

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
    """Yield every setting with its name, those of a group as `crowd.check_share`."""
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
        # No gold question is shown twice: probation could not come to its end.
        return (
            f"`crowd.gold_needed` must be at least `crowd.probation_items` "
            f"({crowd.probation_items}), not {crowd.gold_needed}"
        )
    return None
