"""The steps of sending one call: prepare it from the database, ask, then apply the answer."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from annotation import models
from annotation.crowd.client import MTurk
from annotation.crowd.errors import CrowdError

# Tokens are valid for 24 hours. After this long we look for what an earlier try may have left
# behind before we try again.
TOKEN_TRUSTED_FOR = timedelta(hours=20)
ANNOTATION = "chainbox:"


class NobodyError(CrowdError):
    """The worker of a call has been erased, so there is nobody to send it to."""


class Step(msgspec.Struct, frozen=True):
    """`ask` does not touch the database, so it can run in a thread; `apply` gets its answer.

    `apply` runs in the transaction that ends the call. It returns a problem in words if somebody
    has to look at the result, or nothing.
    """

    ask: Callable[[], Any]
    apply: Callable[[Any], str]


class Batch:
    """Calls that were claimed together, and the marketplace's list of HITs for all of them."""

    def __init__(self, client: MTurk, now: datetime) -> None:
        self.client = client
        self.now = now
        self._published: dict[str, str] | None = None

    def may_repeat(self, call: models.OutboxCall) -> bool:
        """Tell whether the marketplace still knows the token of an earlier try."""
        return call.first_tried_at is None or self.now - call.first_tried_at < TOKEN_TRUSTED_FOR

    def published_as(self, token: str) -> str | None:
        """Return the HIT that was published with this token; a batch lists all HITs once.

        Every call of the batch was claimed before the listing, so none of their tries is later.
        """
        if self._published is None:
            self._published = {
                hit.annotation.removeprefix(ANNOTATION): hit.hit_id
                for hit in self.client.hits()
                if hit.annotation.startswith(ANNOTATION)
            }
        return self._published.get(token)


def details(call: models.OutboxCall) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(call.details)
    return found


def nothing_follows(_: object) -> str:
    return ""
