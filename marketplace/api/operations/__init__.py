"""The operations by name. Each takes who calls and the validated parameters."""

from collections.abc import Callable
from typing import Any

from marketplace.api.operations.account import get_account_balance
from marketplace.models import Requester

OPERATIONS: dict[str, Callable[[Requester, dict[str, Any]], dict[str, Any]]] = {
    "GetAccountBalance": get_account_balance,
}
