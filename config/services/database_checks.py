"""Skips the check of a database connection that was in use a moment ago.

Django checks at the start of every request whether the connection is alive, which costs a round
trip to the database. A connection does not die of old age within seconds. If the database has just
restarted, this request fails, as it would if the restart came a moment later, and the next request
gets a new connection.
"""

import time

from django.core.signals import request_finished, request_started
from django.db import connections

SURELY_ALIVE_SECONDS = 5.0


def spare_health_checks() -> None:
    """Check connections only after they have been idle for some seconds."""
    # Django's own receivers were connected when `django.db` was imported, so that ours come after
    # them: they mark every connection as unchecked.
    request_started.connect(_trust_recent, dispatch_uid="config.services.database_checks")
    request_finished.connect(_note_use, dispatch_uid="config.services.database_checks")


def _trust_recent(**_: object) -> None:
    for connection in connections.all(initialized_only=True):
        used: float = getattr(connection, "chainbox_used_at", float("-inf"))
        if time.monotonic() - used < SURELY_ALIVE_SECONDS:
            connection.health_check_done = True  # type: ignore[attr-defined]  # not in the stubs


def _note_use(**_: object) -> None:
    for connection in connections.all(initialized_only=True):
        # Set every time, even to nothing: after an error the connection may be a new one.
        alive = connection.connection is not None and not connection.errors_occurred
        used = time.monotonic() if alive else float("-inf")
        connection.chainbox_used_at = used  # type: ignore[attr-defined]  # ours
