"""The caller's own account."""

from typing import Any

from marketplace.models import Account, AccountKind, Requester
from marketplace.rules.money import dollars


def get_account_balance(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """Tell what may be spent; money held for HITs is not in it."""
    account = Account.objects.filter(requester=caller, kind=AccountKind.AVAILABLE).first()
    return {"AvailableBalance": dollars(account.balance if account else 0)}
