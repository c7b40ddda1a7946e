"""The one write path for facts: lock images, fold, save the difference, in one transaction."""

from collections.abc import Mapping, Sequence
from typing import assert_never

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.protocol.state import Changed, states_save
from annotation.models import ImageStatus
from annotation.pipeline.engine import apply, counts
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    Body,
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    Doubt,
    Fact,
    FactRefusedError,
    FixSpan,
    Join,
    Judgment,
    NoBox,
    Retype,
    SendTo,
    Split,
    Undo,
    body_kind,
    decode_body,
    encode_body,
)
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState


class AlreadyJudgedError(ValueError):
    """The worker has already answered this question differently."""


class Recorded(msgspec.Struct, frozen=True):
    """The number a fact got, and whether it counted (None: it is not a judgment)."""

    number: int
    counted: bool | None = None


class Outcome(msgspec.Struct, frozen=True):
    """The result for each body, in order, and the image's state after them."""

    recorded: tuple[Recorded, ...]
    state: ImageState


def judgments_record(*, image_id: int, judgments: Sequence[Judgment]) -> Outcome:
    """Record judgments on one image, all or none.

    A repeated judgment is found, not stored twice. A late one is stored but does not count.
    FactRefusedError: an answer makes no sense. AlreadyJudgedError: it contradicts the worker's own
    judgment.
    """
    return facts_record(bodies={image_id: judgments})[image_id]


def doubts_record(*, image_id: int, doubts: Sequence[Doubt]) -> Outcome:
    """Doubt judgments of the image; a repeated doubt is not stored twice."""
    numbers = {doubt.judgment for doubt in doubts}
    known = models.Fact.objects.filter(image_id=image_id, number__in=numbers, kind="judgment")
    for missing in sorted(numbers - set(known.values_list("number", flat=True))):
        raise FactRefusedError(f"fact {missing} of this image is not a judgment")
    return facts_record(bodies={image_id: doubts})[image_id]


def decision_record(*, image_id: int, decision: Decision | Undo) -> Outcome:
    """Carry out a review decision, or take one back."""
    return facts_record(bodies={image_id: [decision]})[image_id]


@transaction.atomic
def facts_record(*, bodies: Mapping[int, Sequence[Body]]) -> dict[int, Outcome]:
    """Record facts on several images, all or none, in a constant few statements.

    Images are locked in the order of their numbers, so that no deadlock occurs.
    """
    stored = states_lock(bodies)
    known = _known_facts(bodies)
    changes: list[Changed] = []
    rows: list[models.Fact] = []
    outcomes: dict[int, Outcome] = {}
    for image_id, of_image in bodies.items():
        writing = _Writing(stored[image_id], known)
        recorded = tuple(writing.add(body) for body in of_image)
        rows += writing.rows
        if writing.rows:
            changes.append(Changed(writing.image, writing.before, writing.state))
        outcomes[image_id] = Outcome(recorded=recorded, state=writing.state)
    models.Fact.objects.bulk_create(rows)
    states_save(changes)
    return outcomes


# The identity of a fact that must not exist twice: a judgment, or a doubt about one.
_Name = tuple[int, str | int, int]


class _Writing:
    """Facts being added to one locked image."""

    def __init__(self, stored: models.StoredState, known: dict[_Name, models.Fact]) -> None:
        self.image = stored.image
        version = self.image.campaign.current_settings
        assert version is not None  # every campaign is made with settings
        self.version = version
        self.settings: Settings = version.settings
        self.before = self.state = stored.state
        self.known = known
        self.rows: list[models.Fact] = []

    def add(self, body: Body) -> Recorded:
        """Apply a fact, or find that it already exists."""
        name = _name(self.image.pk, body)
        earlier = self.known.get(name) if name else None
        if earlier is not None:
            return _same_or_refuse(body, earlier)
        counted = counts(self.state, body) if isinstance(body, Judgment) else None
        fact = Fact(number=self.state.facts + 1, settings=self.settings, body=body)
        self.state = apply(self.state, fact)
        row = fact_row(self.image.pk, fact.number, self.version, body, counted)
        self.rows.append(row)
        if name:
            self.known[name] = row
        return Recorded(number=fact.number, counted=counted)


def state_lock(image_id: int) -> models.StoredState:
    """Lock an image until the transaction ends and return its state."""
    return states_lock([image_id])[image_id]


def states_lock(image_ids: Mapping[int, object] | Sequence[int]) -> dict[int, models.StoredState]:
    """Lock images until the transaction ends and return their states: one statement."""
    found = {
        stored.pk: stored
        for stored in models.StoredState.objects.select_for_update(of=("self",))
        .select_related("image__campaign__current_settings")
        .filter(pk__in=list(image_ids))
        .order_by("pk")
    }
    for image_id in image_ids:
        if image_id not in found:
            raise models.StoredState.DoesNotExist(f"there is no image {image_id}")
        if found[image_id].status == ImageStatus.WITHDRAWN:
            raise FactRefusedError(f"image {found[image_id].image.name} was withdrawn")
    return found


def fact_row(
    image_id: int,
    number: int,
    version: models.CampaignSettings,
    body: Body,
    counted: bool | None,
) -> models.Fact:
    judgment = body if isinstance(body, Judgment) else None
    return models.Fact(
        image_id=image_id,
        number=number,
        settings=version,
        kind=body_kind(body),
        body=encode_body(body),
        worker_id=judgment.worker if judgment else None,
        question=judgment.question.key if judgment else None,
        counted=counted,
    )


def _name(image_id: int, body: Body) -> _Name | None:
    match body:
        case Judgment(question=question, worker=worker):
            return image_id, question.key, worker
        case Doubt(judgment=judgment):
            return image_id, judgment, 0
        # A page of the administration sends each of these once: see `review/decisions.py`.
        case FixSpan() | Retype() | Split() | Join() | NoBox() | CaptionUnrelated() | SendTo():
            return None
        case BoxAdd() | BoxAdjust() | BoxDelete() | Undo() | AcceptedImport():
            return None
        case _:
            assert_never(body)


def _known_facts(bodies: Mapping[int, Sequence[Body]]) -> dict[_Name, models.Fact]:
    """Return the facts that could be the same as one of these: a statement for each kind."""
    flat = [body for of_image in bodies.values() for body in of_image]
    known: dict[_Name, models.Fact] = {}
    judgments = [body for body in flat if isinstance(body, Judgment)]
    if judgments:
        facts = models.Fact.objects.filter(
            image_id__in=bodies,
            question__in={j.question.key for j in judgments},
            worker_id__in={j.worker for j in judgments},
        )
        for fact in facts:
            assert fact.question is not None  # of a judgment
            assert fact.worker_id is not None
            known[fact.image_id, fact.question, fact.worker_id] = fact
    if any(isinstance(body, Doubt) for body in flat):
        for fact in models.Fact.objects.filter(image_id__in=bodies, kind="doubt"):
            doubt = decode_body(fact.body)
            assert isinstance(doubt, Doubt)
            known[fact.image_id, doubt.judgment, 0] = fact
    return known


def _same_or_refuse(body: Body, fact: models.Fact) -> Recorded:
    # A doubt is the same whatever its reason.
    if isinstance(body, Judgment) and decode_body(fact.body) != body:
        raise AlreadyJudgedError(
            f"worker {body.worker} has already answered {body.question.key} differently"
        )
    return Recorded(number=fact.number, counted=fact.counted)
