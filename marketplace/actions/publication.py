"""Publishing and extending HITs, once for each request token."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from django.db import transaction

from marketplace.actions.hits import hit_create, hit_extend, hit_type_make
from marketplace.actions.tokens import TokenUsedError, token_claim, token_use
from marketplace.models import HIT, HITType, QualificationType, Requester
from marketplace.rules.errors import RequestError, does_not_exist, invalid_state, invalid_value
from marketplace.rules.qualifications import SYSTEM_TYPES
from marketplace.rules.requirements import requirements_check

MOST_ASSIGNMENTS = 1_000_000_000


class TypeProperties(msgspec.Struct, frozen=True):
    """The properties that define a HIT type."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_duration: int
    auto_approval_delay: int
    requirements: list[dict[str, Any]]


class Publication(msgspec.Struct, frozen=True):
    """The properties that a HIT has beyond its type."""

    question: str
    max_assignments: int
    lifetime: int
    annotation: str = ""


@transaction.atomic
def hit_type_register(*, requester: Requester, properties: TypeProperties) -> HITType:
    """Return the type with these properties; refuse requirements that nobody could meet."""
    requirement_types_check(requester=requester, requirements=properties.requirements)
    return hit_type_make(
        requester=requester,
        title=properties.title,
        description=properties.description,
        keywords=properties.keywords,
        reward_cents=properties.reward_cents,
        assignment_duration=properties.assignment_duration,
        auto_approval_delay=properties.auto_approval_delay,
        requirements=properties.requirements,
    )


@transaction.atomic
def hit_publish(
    *,
    requester: Requester,
    operation: str,
    token: str | None,
    hit_type: HITType | TypeProperties,
    publication: Publication,
) -> HIT:
    """Create a HIT of a type, or of the type that has these properties.

    HitAlreadyExists: the token has already created a HIT; the message names it.
    """
    claim = None
    if token:
        try:
            claim = token_claim(requester=requester, operation=operation, token=token)
        except TokenUsedError as used:
            raise RequestError(
                "HitAlreadyExists", f'The HIT with ID "{used.token.result}" already exists.'
            ) from None
    if isinstance(hit_type, TypeProperties):
        hit_type = hit_type_register(requester=requester, properties=hit_type)
    else:
        # A required qualification type may have ended after this HIT type was created.
        requirement_types_check(requester=requester, requirements=hit_type.requirements)
    hit = hit_create(
        hit_type=hit_type,
        question=publication.question,
        max_assignments=publication.max_assignments,
        lifetime=publication.lifetime,
        annotation=publication.annotation,
    )
    if claim is not None:
        claim.result = hit.hit_id
        claim.save(update_fields=["result"])
    return hit


@transaction.atomic
def hit_extend_once(*, hit: HIT, more: int, token: str | None) -> None:
    """Add assignments to a HIT; refuse a token that was used before."""
    token_use(requester=hit.requester, operation="CreateAdditionalAssignmentsForHIT", token=token)
    if hit.max_assignments + more > MOST_ASSIGNMENTS:
        raise invalid_value("NumberOfAdditionalAssignments", more)
    hit_extend(hit=hit, more=more)


def requirement_types_check(
    *, requester: Requester, requirements: Iterable[Mapping[str, Any]]
) -> None:
    """Refuse requirements on qualification types that are unknown, disposed of or inactive."""
    listed = list(requirements)
    requirements_check(listed)
    wanted = {one["QualificationTypeId"] for one in listed} - set(SYSTEM_TYPES)
    if not wanted:
        return
    known = {
        one.qualification_type_id: one
        for one in QualificationType.objects.filter(qualification_type_id__in=wanted)
    }
    for type_id in sorted(wanted):
        found = known.get(type_id)
        usable = found is not None and found.disposed_at is None and found.is_active
        if found is None or (not usable and found.requester_id != requester.pk):
            raise does_not_exist("QualificationType", type_id)
        if not usable:
            raise invalid_state("QualificationType", "Active")
