"""Delivering notifications: signed, at least once, for three days, outside any transaction."""

import contextlib
import hashlib
import hmac
import http.client
import socket
import ssl
import threading
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import F

from common.clock import database_now
from marketplace.models import Event, Requester
from marketplace.rules.destinations import is_public

TIMEOUT_SECONDS = 5
FIRST_RETRY = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(hours=1)
TRIED_FOR = timedelta(days=3)
SIGNATURE_HEADER = "X-Chainbox-Signature"


class DeliveryError(Exception):
    """The webhook did not accept the notification; the message says why."""


def signature(body: bytes, secret: str) -> str:
    """Return the value of the signature header, for the sender and for the receiver's check."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def webhook_post(*, destination: str, body: str, requester: Requester) -> None:
    """Send a body to a webhook (DeliveryError). Redirects are not followed."""
    parts = urlsplit(destination)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    data = body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Chainbox-Marketplace",
        SIGNATURE_HEADER: signature(data, requester.webhook_secret),
    }
    try:
        plain = _connect(host, port)
    except (OSError, ValueError) as error:  # ValueError: the name cannot be a host name
        raise DeliveryError(f"{host}: {error}") from None
    connection = http.client.HTTPConnection(parts.netloc)
    connection.sock = plain
    # The socket's own timeout applies to each read; the whole exchange has one too.
    watchdog = threading.Timer(TIMEOUT_SECONDS, _hang_up, [connection])
    watchdog.start()
    try:
        if parts.scheme == "https":
            secured = ssl.create_default_context().wrap_socket(
                plain, server_hostname=host, do_handshake_on_connect=False
            )
            connection.sock = secured
            secured.do_handshake()
        path = parts.path or "/"
        connection.request("POST", f"{path}?{parts.query}" if parts.query else path, data, headers)
        with connection.getresponse() as response:
            status = response.status
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise DeliveryError(f"{host}: {error or type(error).__name__}") from None
    finally:
        watchdog.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise DeliveryError(f"{host} answered {status}")


def events_deliver(*, most: int = 100) -> int:
    """Try the events that are due, the oldest first; return how many were delivered."""
    due = Event.objects.filter(next_try_at__lte=database_now()).select_related("requester")
    delivered = 0
    for _ in range(most):
        event = due.order_by("next_try_at", "pk").first()
        if event is None:
            break
        if not _claim(event):
            continue
        later = event.next_try_at
        if event_deliver(event=event):
            delivered += 1
        else:
            # One dead webhook must not hold up the others, however many events wait for it.
            due.filter(destination=event.destination).update(next_try_at=later)
    return delivered


def event_deliver(*, event: Event) -> bool:
    """Try a claimed event once."""
    try:
        webhook_post(destination=event.destination, body=event.body, requester=event.requester)
    except DeliveryError as error:
        event.last_error = str(error)[:200]
        if event.next_try_at and event.next_try_at > event.created_at + TRIED_FOR:
            event.next_try_at = None
        event.save(update_fields=["last_error", "next_try_at"])
        return False
    event.delivered_at = database_now()
    event.next_try_at = None
    event.last_error = ""
    event.save(update_fields=["delivered_at", "next_try_at", "last_error"])
    return True


def retry_at(now: datetime, attempts: int) -> datetime:
    """Return when to try again after this many attempts: 10 s, 20 s, 40 s, … an hour."""
    doublings = max(0, min(attempts - 1, 20))
    return now + min(FIRST_RETRY * (1 << doublings), LONGEST_PAUSE)


def _claim(event: Event) -> bool:
    """Claim an event: until the next try, no other process takes it.

    If this process dies first, the event is tried again, so it is delivered at least once.
    """
    later = retry_at(database_now(), event.attempts + 1)
    mine = Event.objects.filter(
        pk=event.pk, attempts=event.attempts, next_try_at=event.next_try_at
    ).update(attempts=F("attempts") + 1, next_try_at=later)
    event.attempts += 1
    event.next_try_at = later
    return bool(mine)


def _connect(host: str, port: int) -> socket.socket:
    """Connect to one of the host's addresses, if all of them are allowed.

    The connection uses the checked address, so the name cannot change in between.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    if not settings.MARKETPLACE_PRIVATE_WEBHOOKS and not all(map(is_public, addresses)):
        raise OSError("it is not an address on the public internet")
    failure = OSError("it has no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout=TIMEOUT_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def _hang_up(connection: http.client.HTTPConnection) -> None:
    open_socket: socket.socket | None = connection.sock
    if open_socket is not None:
        with contextlib.suppress(OSError):  # it may already be closed
            open_socket.shutdown(socket.SHUT_RDWR)
