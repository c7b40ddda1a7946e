"""Operations on notifications."""

from typing import Any

from common.clock import database_now
from marketplace.actions.notices.delivery import DeliveryError, webhook_post
from marketplace.actions.notices.events import event_body
from marketplace.actions.notices.settings import (
    Specification,
    notification_settings_update,
)
from marketplace.models import Requester
from marketplace.rules.destinations import destination_check, invalid_endpoint
from marketplace.rules.errors import invalid_value
from marketplace.rules.ids import thing_id
from marketplace.selectors.owned import own_hit_type

VERSIONS = ("2014-08-15", "2006-05-05")


def update_notification_settings(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit_type = own_hit_type(caller, params["HITTypeId"])
    specification = None
    if params.get("Notification"):
        specification = _specification(params["Notification"])
        if "Ping" in specification.event_types:
            raise invalid_value("EventTypes", "Ping")
    notification_settings_update(
        hit_type=hit_type, specification=specification, is_active=params.get("Active")
    )
    return {}


def send_test_event_notification(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """Send a made-up event at once, whatever event types the specification lists."""
    specification = _specification(params["Notification"])
    kind = params["TestEventType"]
    body = event_body(
        caller,
        None if kind == "Ping" else thing_id(),
        event_type=kind,
        now=database_now(),
        hit_id=None if kind == "Ping" else thing_id(),
        assignment_id=thing_id() if kind.startswith("Assignment") else None,
        version=specification.version,
    )
    try:
        webhook_post(destination=specification.destination, body=body, requester=caller)
    except DeliveryError as error:
        raise invalid_endpoint(f"the test event could not be delivered ({error}).") from None
    return {}


def _specification(given: dict[str, Any]) -> Specification:
    if given["Version"] not in VERSIONS:
        raise invalid_value("Version", given["Version"])
    destination_check(given["Destination"], given["Transport"])
    return Specification(
        destination=given["Destination"],
        transport=given["Transport"],
        version=given["Version"],
        event_types=given["EventTypes"],
    )
