"""Pages of listings. A token names the last row of a page, so new rows shift nothing.

As on MTurk, every page with rows has a token, and the listing ends with an empty page that has
none. Tokens are signed for one caller, operation and filter.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet

from marketplace.models import Requester
from marketplace.rules.errors import invalid_value

DEFAULT_RESULTS = 10
Row = TypeVar("Row", bound=Model)
Key = list[int | str]


def page_size(params: dict[str, Any]) -> int:
    return int(params.get("MaxResults") or DEFAULT_RESULTS)


def read_token(caller: Requester, operation: str, params: dict[str, Any]) -> Key | None:
    """Return the key of the last row that the caller has, or None at the start."""
    token = params.get("NextToken")
    if token is None:
        return None
    try:
        key: Key = signing.loads(token, salt=_salt(caller, operation, params))
    except signing.BadSignature:
        raise invalid_value("NextToken", token) from None
    return key


def write_token(caller: Requester, operation: str, params: dict[str, Any], key: Key) -> str:
    return signing.dumps(key, salt=_salt(caller, operation, params))


def listing(
    caller: Requester,
    operation: str,
    params: dict[str, Any],
    rows: QuerySet[Row],
    *,
    order: Sequence[str] = ("pk",),
) -> tuple[list[Row], dict[str, Any]]:
    """Return a page of rows, and the members NumResults and NextToken of the answer.

    `order` names one or two columns; "-pk" is newest first.
    """
    after = read_token(caller, operation, params)
    if after is not None:
        rows = rows.filter(_beyond(order, after))
    page = list(rows.order_by(*order)[: page_size(params)])
    answer: dict[str, Any] = {"NumResults": len(page)}
    if page:
        key = [_plain(getattr(page[-1], name.lstrip("-"))) for name in order]
        answer["NextToken"] = write_token(caller, operation, params, key)
    return page, answer


def _salt(caller: Requester, operation: str, params: dict[str, Any]) -> str:
    filters = sorted(
        (name, value) for name, value in params.items() if name not in ("NextToken", "MaxResults")
    )
    return f"marketplace.page/{caller.requester_id}/{operation}/{filters}"


def _beyond(order: Sequence[str], key: Key) -> Q:
    """Rows after the key: a later first column, or the same one and a later second."""
    beyond, same = Q(), Q()
    for name, value in zip(order, key, strict=True):
        column, step = name.lstrip("-"), "lt" if name.startswith("-") else "gt"
        beyond |= same & Q(**{f"{column}__{step}": value})
        same &= Q(**{column: value})
    return beyond


def _plain(value: Any) -> int | str:
    return value.isoformat() if isinstance(value, datetime) else int(value)
