"""UniqueRequestToken: a request that is sent twice is carried out only once."""

from datetime import timedelta

from django.db import transaction

from common.clock import database_now
from marketplace.models import Requester, RequestToken
from marketplace.rules.errors import RequestError

VALID = timedelta(hours=24)


class TokenUsedError(Exception):
    """The token was used for this operation within the last 24 hours."""

    def __init__(self, token: RequestToken) -> None:
        super().__init__(token.token)
        self.token = token


@transaction.atomic
def token_claim(*, requester: Requester, operation: str, token: str) -> RequestToken:
    """Claim a token inside the transaction that does the work (TokenUsedError).

    If two requests come at once, the second waits here until the first commits or rolls back.
    """
    now = database_now()
    claimed, is_new = RequestToken.objects.get_or_create(
        requester=requester, operation=operation, token=token, defaults={"created_at": now}
    )
    if is_new:
        return claimed
    claimed = RequestToken.objects.select_for_update().get(pk=claimed.pk)
    if claimed.created_at > now - VALID:
        raise TokenUsedError(claimed)
    claimed.created_at = now
    claimed.result = ""
    claimed.save()
    return claimed


def tokens_forget() -> int:
    """Delete the tokens that have expired; return how many there were."""
    return RequestToken.objects.filter(created_at__lte=database_now() - VALID).delete()[0]


def token_use(*, requester: Requester, operation: str, token: str | None) -> None:
    """Claim a token, if there is one, for an operation that refuses a repeated request."""
    if not token:
        return
    try:
        token_claim(requester=requester, operation=operation, token=token)
    except TokenUsedError:
        raise RequestError(
            "DuplicateRequest", f'The idempotency token "{token}" has already been processed.'
        ) from None
