"""Comparing the payments recorded here with those that the marketplace lists."""

from collections.abc import Iterator, Mapping

import msgspec

from annotation import models
from annotation.actions.crowd.workers import OWN_NAMES
from annotation.crowd.client import MTurk, dollars
from annotation.crowd.errors import RefusedError
from annotation.crowd.payments import bonus_reason
from annotation.crowd.polling import STATUS
from annotation.crowd.steps import ANNOTATION
from annotation.models import AssignmentStatus, Operation, PaymentKind


class Totals(msgspec.Struct):
    """How much was compared."""

    hits: int = 0
    assignments: int = 0
    our_cents: int = 0
    their_cents: int = 0


def hit_differences(client: MTurk, hit: models.Hit, totals: Totals) -> Iterator[str]:
    """Yield, in words, where we (“here”) and the marketplace (“there”) disagree about a HIT."""
    assert hit.hit_id is not None
    totals.hits += 1
    rewards, bonuses = _payments(hit)
    totals.our_cents += sum(rewards.values()) + sum(bonuses.values())
    try:
        reward = client.hit_get(hit.hit_id).reward_cents
        theirs = list(client.assignments(hit.hit_id))
        paid = list(client.bonuses(HITId=hit.hit_id))
    except RefusedError as error:
        yield f"the marketplace does not show it: {error}"
        return
    ours = {one.assignment_id: one for one in hit.assignments.select_related("worker")}
    for shown in theirs:
        totals.assignments += 1
        known = ours.pop(shown.assignment_id, None)
        status = STATUS[shown.status]
        if status == AssignmentStatus.APPROVED:
            totals.their_cents += reward
        if known is None:
            yield f"assignment {shown.assignment_id} is {status} there but unknown here"
            continue
        if known.status != status:
            yield f"assignment {shown.assignment_id} is {status} there but {known.status} here"
        if known.worker.name != shown.worker and not known.worker.name.startswith(OWN_NAMES):
            yield f"assignment {shown.assignment_id} belongs to another worker there"
        noted = rewards.get(known.pk)
        if (noted is not None) != (status == AssignmentStatus.APPROVED):
            yield (
                f"assignment {shown.assignment_id}: the reward is "
                f"{'paid' if noted is None else 'not paid'} there, unlike here"
            )
        elif noted is not None and noted != reward:
            yield (
                f"assignment {shown.assignment_id}: {dollars(reward)} was paid there, "
                f"but {dollars(noted)} is recorded here"
            )
    for missing in ours:
        yield f"assignment {missing} is unknown there"
    for bonus in paid:
        totals.their_cents += bonus.cents
        reference = next((one for one in bonuses if bonus.reason.endswith(one)), None)
        if reference is None or bonuses.pop(reference) != bonus.cents:
            yield (
                f"a bonus of {dollars(bonus.cents)} for assignment {bonus.assignment_id} was paid "
                "there but is not recorded here"
            )
    for cents in bonuses.values():
        yield f"a bonus of {dollars(cents)} is recorded here but was not paid there"


def orphans(client: MTurk) -> Iterator[str]:
    """Yield HITs that carry our mark but are not in our tables."""
    calls = models.OutboxCall.objects.filter(operation=Operation.CREATE_HIT)
    published = dict(calls.values_list("token", "hit__hit_id"))
    for shown in client.hits():
        token = shown.annotation.removeprefix(ANNOTATION)
        if token == shown.annotation:
            continue
        if token not in published:
            yield f"HIT {shown.hit_id} is there but unknown here"
        elif published[token] != shown.hit_id:
            yield f"HIT {shown.hit_id} is there; here it is {published[token] or 'not published'}"


def _payments(hit: models.Hit) -> tuple[Mapping[int, int], dict[str, int]]:
    """Return the rewards by assignment, and the bonuses by what their reasons end in."""
    rewards: dict[int, int] = {}
    calls: dict[int, int] = {}
    for payment in models.Payment.objects.filter(assignment__hit=hit):
        if payment.kind == PaymentKind.REWARD:
            rewards[payment.assignment_id] = payment.cents
        else:
            calls[int(payment.key.removeprefix("bonus/"))] = payment.cents
    tokens = models.OutboxCall.objects.in_bulk(calls)
    return rewards, {
        bonus_reason("", tokens[pk].token).strip(): cents for pk, cents in calls.items()
    }
