"""Tickets: they let a task page work on one sitting, without cookies."""

import time

import msgspec
from django.core import signing
from django.utils.crypto import salted_hmac

from annotation import models
from annotation.selectors.work.sittings import Claim
from common.clock import CLOCK_TOLERANCE_SECONDS

_SALT = "chainbox.hits.ticket"
_KEY_SALT = "chainbox.hits.sitting"


class BadTicketError(ValueError):
    """The ticket was not made here."""


class TicketExpiredError(ValueError):
    """The ticket is no longer valid."""


class _Ticket(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    claim: Claim
    until: int


def ticket_seconds(campaign: models.Campaign) -> int:
    """Return how long a ticket is valid.

    Longer than a sitting, which only begins once the worker has read the consent text.
    """
    return 2 * campaign.settings.sitting_seconds


def ticket_write(claim: Claim, seconds: int) -> str:
    """Return a signed ticket for the claim, valid for so many seconds."""
    ticket = _Ticket(claim=claim, until=int(time.time()) + seconds)
    return signing.dumps(msgspec.to_builtins(ticket), salt=_SALT)


def ticket_read(token: str) -> Claim:
    """Return a ticket's claim (BadTicketError, TicketExpiredError)."""
    try:
        ticket = msgspec.convert(signing.loads(token, salt=_SALT), _Ticket)
    except (signing.BadSignature, msgspec.ValidationError, ValueError):
        raise BadTicketError from None
    if ticket.until + CLOCK_TOLERANCE_SECONDS < time.time():
        raise TicketExpiredError
    return ticket.claim


def sitting_key(claim: Claim) -> str:
    """Return a key for this worker at this assignment that reveals nothing to others.

    The browser stores answers under it. It stays the same after a reload and differs for the next
    worker.
    """
    about = "/".join((claim.kind, claim.assignment_id, claim.worker))
    return salted_hmac(_KEY_SALT, about, algorithm="sha256").hexdigest()[:32]
