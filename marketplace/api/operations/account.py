"""Operations on the requester's account."""

from typing import Any

from marketplace.models import Account, AccountKind, Requester
from marketplace.rules.money import dollars


def get_account_balance(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    balances = dict(Account.objects.filter(requester=caller).values_list("kind", "balance"))
    return {
        "AvailableBalance": dollars(balances.get(AccountKind.AVAILABLE, 0)),
        "OnHoldBalance": dollars(balances.get(AccountKind.HELD, 0)),
    }
