"""Publishing a HIT, and taking it back."""

import re
from xml.sax.saxutils import escape

from annotation import models
from annotation.actions.crowd.hits import hit_cancel, hit_expired, hit_published
from annotation.actions.crowd.outbox import CallUnderWayError
from annotation.crowd.client import HitShown, MTurk
from annotation.crowd.errors import RefusedError, TryAgainError
from annotation.crowd.registration import hit_type_ensure
from annotation.crowd.steps import ANNOTATION, Batch, Step, nothing_follows
from annotation.models import HitStatus, SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.sittings import task_url

SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2006-07-14/ExternalQuestion.xsd"
)
_DAY_SECONDS = 86_400
# A refused token's message names the HIT that was made with it before.
_NAMED = re.compile(r'"([A-Z0-9]+)"')


def create_hit(call: models.OutboxCall, batch: Batch) -> Step:
    """Publish a HIT. Its token and its annotation allow us to find it again."""
    hit, client = call.hit, batch.client
    assert hit is not None
    known = hit.hit_id
    if known is None and not batch.may_repeat(call):
        known = batch.published_as(call.token)
    if known is not None:
        found = known
        return Step(ask=lambda: client.hit_get(found), apply=lambda shown: _published(hit, shown))
    hit_type_id = hit_type_ensure(client, hit.terms)
    question = question_of(hit)
    lifetime = call.campaign.settings.crowd.hit_days * _DAY_SECONDS

    def ask() -> HitShown:
        try:
            return client.hit_create(
                hit_type_id=hit_type_id,
                places=hit.places,
                lifetime_seconds=lifetime,
                question=question,
                annotation=ANNOTATION + call.token,
                token=call.token,
            )
        except RefusedError as error:
            if error.code.lower() != "hitalreadyexists":
                raise
            return _published_before(client, call, error)

    return Step(ask=ask, apply=lambda shown: _published(hit, shown))


def expire_hit(call: models.OutboxCall, batch: Batch) -> Step:
    """Take a HIT back. If it never reached the marketplace, it never will."""
    hit, client = call.hit, batch.client
    assert hit is not None
    hit_id = hit.hit_id or _unpublished(hit)
    if hit_id is None or hit.status == HitStatus.CLOSED:
        return Step(ask=lambda: None, apply=nothing_follows)

    def ask() -> None:
        try:
            client.hit_expire(hit_id)
        except RefusedError as error:
            # It was disposed of already, which has the same result.
            if error.code != "InvalidHITState":
                raise

    def apply(_: object) -> str:
        hit_expired(hit=hit)
        return ""

    return Step(ask=ask, apply=apply)


def question_of(hit: models.Hit) -> str:
    """Return the question as MTurk wants it: the address of the task page, in XML."""
    address = task_url(hit.campaign_id, Stage(hit.stage), SittingKind(hit.kind))
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{escape(address)}</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )


def _published(hit: models.Hit, shown: HitShown) -> str:
    hit_published(hit=hit, hit_id=shown.hit_id, expires_at=shown.expires_at)
    return ""


def _published_before(client: MTurk, call: models.OutboxCall, error: RefusedError) -> HitShown:
    """Return the HIT of an earlier try, from the refusal's message or from the listing."""
    annotation = ANNOTATION + call.token
    named = _NAMED.search(error.message)
    if named:
        shown = client.hit_get(named[1])
        if shown.annotation == annotation:
            return shown
    for listed in client.hits():
        if listed.annotation == annotation:
            return listed
    raise TryAgainError(f"The HIT exists but is not listed: {error.message}")


def _unpublished(hit: models.Hit) -> str | None:
    """Cancel a HIT that was never published. If it was, return its name on the marketplace."""
    try:
        return hit_cancel(hit=hit)
    except CallUnderWayError:
        raise TryAgainError("The HIT is just being published.") from None
