"""The groups of HITs that a worker can find, with their requirements."""

from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from common.clock import database_now
from common.rows import only_row
from marketplace.models import HIT, Assignment, HITType, QualificationType, Worker
from marketplace.rules.ids import is_id
from marketplace.rules.lifecycle import HELD, HITStatus
from marketplace.rules.qualifications import (
    SYSTEM_TYPES,
    Action,
    Standing,
    guards,
    is_met,
)
from marketplace.rules.words import requirement_words
from marketplace.selectors.eligibility import blocking_requesters, refusal, standing_of

SORTS = {
    "newest": "Newest first",
    "reward": "Highest reward first",
    "most": "Most HITs first",
}


class Requirement(msgspec.Struct, frozen=True):
    """One requirement of a group, and whether the worker meets it."""

    words: str
    is_met: bool
    # What the worker can request to meet it; None for system types and types nobody can request.
    qualification_type_id: str | None
    guards_preview: bool


class Group(msgspec.Struct, frozen=True):
    """The HITs of one type that are open to a worker."""

    hit_type: HITType
    available: int
    newest: datetime | None
    closes: datetime | None
    requirements: list[Requirement]
    # Why the worker may not preview or accept; None if they may.
    no_preview: str | None
    no_accept: str | None


class Filter(msgspec.Struct, frozen=True):
    """A worker's search."""

    text: str = ""
    minimum_cents: int = 0
    qualified_only: bool = False
    sort: str = "newest"


def open_hits(worker: Worker, now: datetime) -> QuerySet[HIT]:
    """HITs with a place for this worker, whether or not they qualify."""
    own = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker, status__in=HELD)
    return HIT.objects.filter(
        ~Exists(own),
        status=HITStatus.ASSIGNABLE,
        expires_at__gt=now,
        requester__is_active=True,
    )


def groups_found(worker: Worker, wanted: Filter) -> list[Group]:
    """Return all groups that the worker may discover and that match the filter, sorted."""
    types = Q(hit_type__reward_cents__gte=wanted.minimum_cents)
    for word in wanted.text.split():
        types &= (
            Q(hit_type__title__icontains=word)
            | Q(hit_type__description__icontains=word)
            | Q(hit_type__keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    found = _groups(worker, types)
    if wanted.qualified_only:
        found = [group for group in found if group.no_accept is None]
    found.sort(key=_newest, reverse=True)
    if wanted.sort == "reward":
        found.sort(key=lambda group: group.hit_type.reward_cents, reverse=True)
    elif wanted.sort == "most":
        found.sort(key=lambda group: group.available, reverse=True)
    return found


def group_find(worker: Worker, hit_type: HITType) -> Group | None:
    """Return one group, even when no HIT is left in it; None if the worker may not know it."""
    found = _groups(worker, Q(hit_type=hit_type))
    if found:
        return found[0]
    standing, blocked = standing_of(worker), blocking_requesters(worker)
    if refusal(hit_type, standing, blocked, Action.DISCOVER):
        return None
    names = _names([hit_type])
    return _group(hit_type, {"available": 0}, standing, blocked, names)


def hit_type_find(number: str) -> HITType | None:
    """Return the type that a worker's link names."""
    if not is_id(number):
        return None
    return only_row(HITType.objects.select_related("requester").filter(hit_type_id=number))


def hit_to_preview(worker: Worker, hit_type: HITType, hit_id: str = "") -> HIT | None:
    """Return a HIT of the group that the worker could accept: the requested one if it is open."""
    hits = open_hits(worker, database_now()).filter(hit_type=hit_type)
    asked = only_row(hits.filter(hit_id=hit_id)) if is_id(hit_id) else None
    return asked or hits.order_by("pk").first()


def _groups(worker: Worker, types: Q) -> list[Group]:
    counted: dict[int, dict[str, Any]] = {
        int(row["hit_type"]): dict(row)
        for row in open_hits(worker, database_now())
        .filter(types)
        .values("hit_type")
        .annotate(available=Count("pk"), newest=Max("created_at"), closes=Max("expires_at"))
        .order_by()
    }
    hit_types = HITType.objects.select_related("requester").filter(pk__in=counted)
    standing, blocked = standing_of(worker), blocking_requesters(worker)
    seen = [
        hit_type
        for hit_type in hit_types
        if refusal(hit_type, standing, blocked, Action.DISCOVER) is None
    ]
    names = _names(seen)
    return [_group(one, counted[one.pk], standing, blocked, names) for one in seen]


def _group(
    hit_type: HITType,
    counted: dict[str, Any],
    standing: Standing,
    blocked: set[int],
    types: dict[str, QualificationType],
) -> Group:
    names = {number: one.name for number, one in types.items()}
    requirements = []
    for asked in hit_type.requirements:
        number = asked["QualificationTypeId"]
        known = types.get(number)
        can_ask = known is not None and known.is_active and known.disposed_at is None
        requirements.append(
            Requirement(
                words=requirement_words(asked, names),
                is_met=is_met(asked, standing),
                qualification_type_id=number if can_ask else None,
                guards_preview=guards(asked) != Action.ACCEPT,
            )
        )
    return Group(
        hit_type=hit_type,
        available=counted["available"],
        newest=counted.get("newest"),
        closes=counted.get("closes"),
        requirements=requirements,
        no_preview=refusal(hit_type, standing, blocked, Action.PREVIEW),
        no_accept=refusal(hit_type, standing, blocked, Action.ACCEPT),
    )


def _names(hit_types: list[HITType]) -> dict[str, QualificationType]:
    numbers = {
        asked["QualificationTypeId"] for hit_type in hit_types for asked in hit_type.requirements
    } - set(SYSTEM_TYPES)
    found = QualificationType.objects.filter(qualification_type_id__in=numbers)
    return {one.qualification_type_id: one for one in found}


def _newest(group: Group) -> tuple[datetime, int]:
    assert group.newest is not None
    return group.newest, group.hit_type.pk
