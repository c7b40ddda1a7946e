"""Recording workers' judgments: always stored, and doubted at once if the worker is not trusted."""

from collections.abc import Mapping, Sequence

import msgspec
from django.db import transaction

from annotation.actions.protocol.facts import AlreadyJudgedError, Outcome, Recorded, facts_record
from annotation.pipeline.protocol.facts import Doubt, FactRefusedError, Judgment
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.trust.standing import Standing, disbelief

ByImage = Mapping[int, Sequence[Judgment]]


class Heard(msgspec.Struct, frozen=True):
    """A judgment that was recorded, and whether it was doubted at once."""

    image_id: int
    judgment: Judgment
    recorded: Recorded
    doubted: bool


class Hearing(msgspec.Struct, frozen=True):
    """The result for judgments: recorded, with the images' states after them, or refused."""

    heard: tuple[Heard, ...] = ()
    states: dict[int, ImageState] = {}
    # In words.
    refused: tuple[str, ...] = ()

    def __add__(self, other: "Hearing") -> "Hearing":
        return Hearing(
            heard=self.heard + other.heard,
            states=self.states | other.states,
            refused=self.refused + other.refused,
        )


def judgments_hear(*, judgments: ByImage, standing: Standing) -> Hearing:
    """Record what can be recorded: all at once, or in parts if something is refused.

    Judgments of workers we do not trust are doubted before anybody else can see them.
    """
    if not judgments:
        return Hearing()
    try:
        return _hear(judgments, standing)
    except (FactRefusedError, AlreadyJudgedError) as error:
        parts = _parts(judgments)
        if len(parts) == 1:
            [[judgment]] = judgments.values()
            return Hearing(refused=(f"{judgment.question.key}: {error}",))
    hearing = Hearing()
    for part in parts:
        hearing += judgments_hear(judgments=part, standing=standing)
    return hearing


def _parts(judgments: ByImage) -> list[dict[int, Sequence[Judgment]]]:
    """Split judgments: by image, or one by one if there is only one image."""
    if len(judgments) > 1:
        return [{image_id: of_image} for image_id, of_image in judgments.items()]
    [(image_id, of_image)] = judgments.items()
    return [{image_id: [judgment]} for judgment in of_image]


@transaction.atomic
def _hear(judgments: ByImage, standing: Standing) -> Hearing:
    outcomes = facts_record(bodies=judgments)
    heard: list[Heard] = []
    doubts: dict[int, list[Doubt]] = {}
    for image_id, of_image in judgments.items():
        for judgment, one in zip(of_image, outcomes[image_id].recorded, strict=True):
            why = disbelief(standing, judgment.question.stage)
            if why:
                doubt = Doubt(judgment=one.number, reason=why[:200])
                doubts.setdefault(image_id, []).append(doubt)
            heard.append(Heard(image_id, judgment, one, bool(why)))
    doubted: dict[int, Outcome] = facts_record(bodies=doubts) if doubts else {}
    states = {image_id: outcome.state for image_id, outcome in (outcomes | doubted).items()}
    return Hearing(heard=tuple(heard), states=states)
