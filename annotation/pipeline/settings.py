"""The numbers of the protocol. The paper's are the defaults; a campaign may set its own."""

from enum import StrEnum

import msgspec

from annotation.pipeline.mentions import BODYPARTS, CLOTHING, PEOPLE
from annotation.pipeline.questions import Stage

# What a worker may be given at once; the task pages hand in no more.
MOST_QUESTIONS = 100


class DrawingWay(StrEnum):
    """How boxes are drawn: one way for all, as the worker likes, or one way by lot a sitting."""

    DRAG = "drag"
    EXTREME = "extreme"
    CHOICE = "choice"
    RANDOM = "random"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of a campaign's settings. A fact folds under the version it was made under."""

    version: int = 1

    # Box Requirement is skipped for chains with a mention of these types: one standing vote "box".
    standing_box_types: tuple[str, ...] = (PEOPLE, CLOTHING, BODYPARTS)
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
        default_factory=lambda: {
            Stage.LINKS: 10,
            Stage.VERIFICATION: 5,
            Stage.REQUIREMENT: 10,
            Stage.DRAWING: 5,
            Stage.QUALITY: 10,
            Stage.COVERAGE: 10,
        }
    )
    # The share of right answers that a worker must reach and keep (supplement, Table 1).
    minimum_performance: dict[Stage, float] = msgspec.field(
        default_factory=lambda: {
            Stage.LINKS: 0.8,
            Stage.VERIFICATION: 0.83,
            Stage.REQUIREMENT: 0.83,
            Stage.DRAWING: 0.7,
            Stage.QUALITY: 0.78,
            Stage.COVERAGE: 0.8,
        }
    )
    # A sitting's questions are kept for its worker for this long.
    sitting_seconds: int = 3600
    # Which ways of drawing a box workers get.
    drawing_way: DrawingWay = DrawingWay.CHOICE
    # In a qualification test a box is right if it overlaps the expected one this much.
    test_iou: float = 0.7


def settings_problem(settings: Settings) -> str | None:
    """Say in plain words which setting no campaign could work under, or None if all are usable.

    >>> settings_problem(Settings(coverage_votes=0))
    '`coverage_votes` must be at least 1, not 0'
    """
    for name in Settings.__struct_fields__:
        value = getattr(settings, name)
        parts = value if isinstance(value, dict) else {None: value}
        if isinstance(value, dict) and set(value) != set(Stage):
            missing = ", ".join(stage.value for stage in Stage if stage not in value)
            return f"`{name}` lacks {missing}"
        for stage, part in parts.items():
            place = f"`{name}.{stage}`" if stage else f"`{name}`"
            if isinstance(part, float) and not 0 <= part <= 1:
                return f"{place} must be a share from 0 to 1, not {part:g}"
            if isinstance(part, int) and part < 1:
                return f"{place} must be at least 1, not {part}"
            if name == "questions_per_hit" and part > MOST_QUESTIONS:
                return f"{place} must be at most {MOST_QUESTIONS}, not {part}"
    return None
