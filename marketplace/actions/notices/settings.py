"""Where the events of a HIT type are sent."""

from collections.abc import Sequence
from typing import Any

import msgspec
from django.db import transaction

from marketplace.models import HITType, NotificationSettings
from marketplace.rules.errors import RequestError, invalid_value


class Specification(msgspec.Struct, frozen=True):
    """A NotificationSpecification that has been checked."""

    destination: str
    transport: str
    version: str
    event_types: Sequence[str]


@transaction.atomic
def notification_settings_update(
    *, hit_type: HITType, specification: Specification | None, is_active: bool | None
) -> None:
    """Replace the specification, switch it on or off, or both."""
    current = NotificationSettings.objects.select_for_update().filter(hit_type=hit_type).first()
    if specification is None:
        if is_active is None:
            raise RequestError(
                "InvalidParameterValue", "Either Notification or Active must be given."
            )
        if current is None:
            raise invalid_value("Active", str(is_active).lower())
        current.is_active = is_active
        current.save(update_fields=["is_active"])
        return
    values: dict[str, Any] = {
        "destination": specification.destination,
        "transport": specification.transport,
        "version": specification.version,
        "event_types": list(specification.event_types),
    }
    if is_active is not None:
        values["is_active"] = is_active
    NotificationSettings.objects.update_or_create(hit_type=hit_type, defaults=values)
