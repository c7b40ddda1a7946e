"""The signed webhook through which the marketplace notifies us.

Notifications come at least once, late and in any order, and never name a worker. They only point
to what has changed; the state that counts is what the marketplace's API then returns.
"""

import hashlib
import hmac
from datetime import datetime
from typing import Annotated

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from annotation.actions.crowd.notifications import PlatformEvent, events_take

MAX_BYTES = 256 * 1024
MOST_EVENTS = 1000
SIGNATURE_HEADER = "X-Chainbox-Signature"
# The events we act on; others, such as a test's Ping, are ignored.
EVENT_TYPES = frozenset(
    {
        *("AssignmentAccepted", "AssignmentAbandoned", "AssignmentReturned"),
        *("AssignmentSubmitted", "AssignmentApproved", "AssignmentRejected"),
        *("HITReviewable", "HITExpired", "HITExtended", "HITDisposed"),
    }
)

_Id = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._~:-]{1,64}\Z")]
_Word = Annotated[str, msgspec.Meta(max_length=200)]
_Time = Annotated[datetime, msgspec.Meta(tz=True)]


# Types are strict, but unknown members are ignored: MTurk's own notifications had extra ones at
# times, and a refused notification is sent again for days.
class _Event(msgspec.Struct, frozen=True):
    type: _Word = msgspec.field(name="EventType")
    at: _Time = msgspec.field(name="EventTimestamp")
    hit_type_id: _Id | None = msgspec.field(name="HITTypeId", default=None)
    hit_id: _Id | None = msgspec.field(name="HITId", default=None)
    assignment_id: _Id | None = msgspec.field(name="AssignmentId", default=None)


class _Notification(msgspec.Struct, frozen=True):
    version: _Word = msgspec.field(name="EventDocVersion")
    doc_id: _Word = msgspec.field(name="EventDocId")
    customer_id: _Word = msgspec.field(name="CustomerId")
    events: Annotated[tuple[_Event, ...], msgspec.Meta(max_length=MOST_EVENTS)] = msgspec.field(
        name="Events"
    )


_decoder = msgspec.json.Decoder(_Notification)


class NotificationError(ValueError):
    """The body is not a notification; the message says what is wrong with it."""


@csrf_exempt  # no cookies here: the signature identifies the sender
def notifications(request: HttpRequest) -> HttpResponse:
    """Take a notification if the marketplace signed it."""
    if request.method != "POST":
        reply = _say(405, "Use POST.")
        reply.headers["Allow"] = "POST"
        return reply
    secret: str = settings.CHAINBOX_CROWD_WEBHOOK_SECRET
    if not secret:
        return _say(
            401, "This site takes no notifications: CHAINBOX_CROWD_WEBHOOK_SECRET is not set."
        )
    body = request.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        return _say(413, f"The request is larger than {MAX_BYTES // 1024} KB.")
    given = request.headers.get(SIGNATURE_HEADER, "")
    if not given:
        return _say(401, f"The {SIGNATURE_HEADER} header is missing.")
    if not is_signed(body, given, secret):
        return _say(401, f"The {SIGNATURE_HEADER} does not match this body and our secret.")
    try:
        events = events_read(body)
    except NotificationError as error:
        return _say(400, str(error))
    events_take(events=events)
    return _say(200, "Taken.")


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Check the body's signature under the secret, in constant time."""
    wanted = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode("utf-8", "replace"))


def events_read(body: bytes) -> list[PlatformEvent]:
    """Return a notification's events about HITs (NotificationError)."""
    try:
        notification = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotificationError(f"This is not a notification: {error}.") from None
    return [
        PlatformEvent(
            type=event.type,
            hit_id=event.hit_id,
            assignment_id=event.assignment_id or "",
            at=event.at,
        )
        for event in notification.events
        if event.hit_id is not None and event.type in EVENT_TYPES
    ]


def _say(status: int, words: str) -> HttpResponse:
    reply = HttpResponse(words + "\n", status=status, content_type="text/plain; charset=utf-8")
    reply.headers["Cache-Control"] = "no-store"
    return reply
