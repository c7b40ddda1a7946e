"""Notifications: written with the change that causes them, retried until delivered."""

import json
import uuid
from datetime import datetime

from common.rows import only_row
from common.waking import wake
from marketplace.models import HIT, Event, NotificationSettings, Requester

VERSION = "2014-08-15"


def event_record(
    *, hit: HIT, event_type: str, now: datetime, assignment_id: str | None = None
) -> None:
    """Put a HIT's event into the outbox, if its type's notifications ask for it."""
    wanted = only_row(
        NotificationSettings.objects.filter(hit_type_id=hit.hit_type_id, is_active=True)
    )
    if wanted is None or event_type not in wanted.event_types:
        return
    body = event_body(
        hit.requester,
        hit.hit_type.hit_type_id,
        event_type=event_type,
        now=now,
        hit_id=hit.hit_id,
        assignment_id=assignment_id,
        version=wanted.version,
    )
    Event.objects.create(
        requester=hit.requester, destination=wanted.destination, body=body, next_try_at=now
    )
    wake("marketplace_deliver")


def event_body(
    requester: Requester,
    hit_type_id: str | None,
    *,
    event_type: str,
    now: datetime,
    hit_id: str | None = None,
    assignment_id: str | None = None,
    version: str = VERSION,
) -> str:
    """Return a notification in MTurk's words; it never names the worker."""
    event = {
        "EventType": event_type,
        "EventTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "HITTypeId": hit_type_id,
        "HITId": hit_id,
        "AssignmentId": assignment_id,
    }
    return json.dumps(
        {
            "EventDocVersion": version,
            "EventDocId": uuid.uuid4().hex,
            "CustomerId": requester.requester_id,
            "Events": [{name: value for name, value in event.items() if value is not None}],
        }
    )
