"""What a stage needs on the marketplace before its first HIT: a qualification, a HIT type."""

import logging
from typing import Any

import msgspec
from django.conf import settings

from annotation import models
from annotation.actions.crowd.registration import hit_type_note, qualification_type_note
from annotation.crowd.client import MTurk
from annotation.crowd.errors import RefusedError, TryAgainError
from annotation.pipeline.crowd.terms import QUALIFICATION, qualification_name
from annotation.pipeline.protocol.questions import Stage

log = logging.getLogger(__name__)

# The events we subscribe to. Notifications may come late, twice or not at all.
EVENTS = (
    "AssignmentAccepted",
    "AssignmentAbandoned",
    "AssignmentReturned",
    "AssignmentSubmitted",
    "HITReviewable",
    "HITExpired",
)


def qualification_ensure(client: MTurk, campaign: models.Campaign, stage: str) -> str:
    """Return the stage's qualification type, created when it is first needed."""
    supply = models.StageSupply.objects.filter(campaign=campaign, stage=stage).first()
    if supply is None:
        raise RefusedError("NotLaunched", f"The stage {stage} of {campaign.name} is not launched.")
    if supply.qualification_type_id:
        return supply.qualification_type_id
    name = qualification_name(campaign.name, Stage(stage))
    try:
        type_id = client.qualification_type_create(
            name=name,
            description=f"Who may work on {stage} for {campaign.name}: 0 no, 50 on probation, "
            "100 trusted.",
        )
    except RefusedError as error:
        if error.code != "QualificationTypeAlreadyExists":
            raise
        # Another sender made it, or one that was stopped before it could record it.
        found = client.qualification_type_find(name)
        if found is None:
            raise TryAgainError(f"The qualification {name!r} exists but is not listed.") from error
        type_id = found
    qualification_type_note(supply=supply, type_id=type_id)
    return type_id


def hit_type_ensure(client: MTurk, terms: models.HitTerms) -> str:
    """Return the HIT type with these terms, registered when it is first needed."""
    if terms.hit_type_id:
        return terms.hit_type_id
    # Of several HITs with the same new terms, only the first finds them unregistered.
    known = models.HitTerms.objects.values_list("hit_type_id", flat=True).get(pk=terms.pk)
    if known:
        return known
    body = terms.body
    if QUALIFICATION in body:
        type_id = qualification_ensure(client, terms.campaign, terms.stage)
        body = body.replace(QUALIFICATION, type_id)
    params: dict[str, Any] = msgspec.json.decode(body)
    hit_type_id = client.hit_type_create(params)
    if settings.CHAINBOX_CROWD_WEBHOOK:
        try:
            client.notifications_set(
                hit_type_id, destination=settings.CHAINBOX_CROWD_WEBHOOK, events=EVENTS
            )
        except RefusedError as error:
            # Polling finds everything too, but later.
            log.warning("HIT type %s has no notifications: %s", hit_type_id, error)
    hit_type_note(terms=terms, hit_type_id=hit_type_id)
    return hit_type_id
