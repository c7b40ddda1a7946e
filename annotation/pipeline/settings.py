"""The numbers of the protocol. The paper's are the defaults; a campaign may set its own."""

from enum import StrEnum

import msgspec

from annotation.pipeline.mentions import BODYPARTS, CLOTHING, PEOPLE
from annotation.pipeline.questions import Stage


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
