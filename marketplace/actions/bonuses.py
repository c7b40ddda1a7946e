"""Bonuses."""

from django.conf import settings
from django.db import transaction

from common.clock import database_now
from marketplace.actions.hits import hit_lock
from marketplace.actions.ledger import bonus_pay
from marketplace.actions.tokens import token_use
from marketplace.models import Assignment, BonusPayment, Requester
from marketplace.rules.money import fee


@transaction.atomic
def bonus_send(
    *, requester: Requester, assignment: Assignment, cents: int, reason: str, token: str | None
) -> BonusPayment:
    """Pay the assignment's worker a bonus; refuse a token that was used before."""
    token_use(requester=requester, operation="SendBonus", token=token)
    hit_lock(hit_id=assignment.hit_id)
    bonus = BonusPayment.objects.create(
        requester=requester,
        worker=assignment.worker,
        assignment=assignment,
        cents=cents,
        reason=reason,
        granted_at=database_now(),
    )
    bonus_pay(
        requester=requester,
        worker=assignment.worker,
        cents=cents,
        fee=fee(cents, settings.MARKETPLACE_FEE_PERCENT),
        key=str(bonus.pk),
    )
    return bonus
