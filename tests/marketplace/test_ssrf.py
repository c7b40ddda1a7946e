"""A requester's webhook cannot make the server call addresses that only the server can reach."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test.utils import override_settings

from common.clock import database_now
from marketplace.actions.notices import delivery
from marketplace.actions.notices.delivery import DeliveryError, events_deliver, webhook_post
from marketplace.models import Event
from marketplace.rules.destinations import is_public
from tests.marketplace.people import make_requester
from tests.marketplace.webhooks import webhook_server

# Hosts that lead to this machine, its networks, or nowhere on the internet, however written.
HOSTS = (
    *(
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.255.255.254",
    ),
    *(
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "017700000001",
        "0177.0.0.1",
        "127.0.1",
        "0",
        "0.0.0.0",
    ),
    *("10.0.0.1", "10.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254"),
    *(
        "2852039166",
        "0xa9fea9fe",
        "100.64.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.7",
    ),
    *("203.0.113.9", "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::10.0.0.1]", "[::ffff:127.0.0.1]"),
    *("[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[::ffff:169.254.169.254]", "[64:ff9b::7f00:1]"),
    *("[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]"),
    *("[2002:a00:1::1]", "[2001:0:7f00:1::]", "[2001:db8::1]", "[2001:2::1]", "[2001:20::1]"),
    *(
        "[2001:10::1]",
        "[3fff::1]",
        "[3ffe::1]",
        "[5f00::1]",
        "[100::1]",
        "[fc00::1]",
        "[fd12:3456::1]",
    ),
    *("[fe80::1]", "[fec0::1]", "[ff02::1]", "[4000::1]", "[2a00:1450::5efe:7f00:1]"),
    *("[2a00:1450::200:5efe:10.0.0.1]", "[2620:4f:8000::1]"),
)
PUBLIC = (
    *("93.184.216.34", "8.8.8.8", "192.0.1.1", "100.128.0.1", "172.32.0.1"),
    *("2606:2800:220:1:248:1893:25c8:1946", "2a00:1450:4001::1", "64:ff9b::5db8:d822"),
    *("::ffff:93.184.216.34", "2002:5db8:d822::1", "2001:200::1"),
)


class Calls:
    """Where this process has tried to connect to, while that was watched."""

    def __init__(self) -> None:
        self.addresses: list[Any] = []
        self.is_watching = False

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        # Databases speak over sockets of their own library, which are not heard here.
        if self.is_watching and event == "socket.connect" and isinstance(arguments[1], tuple):
            self.addresses.append(arguments[1][:2])
            raise ConnectionAbortedError("the test lets nothing out")


CALLS = Calls()


@pytest.fixture(scope="module", autouse=True)
def _audited() -> None:
    # There is no taking it off again: it does nothing while nobody watches.
    sys.addaudithook(CALLS.heard)


@contextmanager
def watched() -> Iterator[list[Any]]:
    """Yield the connections that are tried meanwhile; none of them is made."""
    CALLS.addresses, CALLS.is_watching = [], True
    try:
        yield CALLS.addresses
    finally:
        CALLS.is_watching = False


def test_there_are_at_least_sixty() -> None:
    assert len(set(HOSTS)) >= 60


@pytest.mark.django_db
@pytest.mark.parametrize("host", HOSTS)
@override_settings(MARKETPLACE_PRIVATE_WEBHOOKS=False)
def test_nothing_inside_is_ever_called(host: str) -> None:
    # Straight into the database: most of these would be refused when they are set.
    requester = make_requester(0)
    for destination in (f"https://{host}/hook", f"https://{host}:8443/", f"http://{host}/latest/"):
        now = database_now()
        event = Event.objects.create(
            requester=requester, destination=destination, body="{}", next_try_at=now, created_at=now
        )
        with watched() as called:
            assert events_deliver() == 0
        event.refresh_from_db()
        assert called == []
        assert event.attempts == 1
        assert event.last_error
        event.delete()


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Have the name evil.example change its addresses with each question; return the questions."""
    asked: list[str] = []
    real = socket.getaddrinfo
    left = list(answers)

    def resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host != "evil.example":
            return real(host, port, *args, **kwargs)
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [one for address in found for one in real(address, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.django_db
@override_settings(MARKETPLACE_PRIVATE_WEBHOOKS=False)
def test_a_name_that_changes_its_address_is_called_where_it_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = resolve_to(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    with watched() as called, pytest.raises(DeliveryError):
        webhook_post(
            destination="https://evil.example/hook", body="{}", requester=make_requester(0)
        )
    assert called == [("93.184.216.34", 443)]
    assert asked == ["evil.example"], "asked once: the answer that was checked is the one used"


@pytest.mark.django_db
@pytest.mark.parametrize("private", ["127.0.0.1", "::1", "169.254.169.254", "fec0::1"])
@override_settings(MARKETPLACE_PRIVATE_WEBHOOKS=False)
def test_one_private_address_among_public_ones_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch, private: str
) -> None:
    resolve_to(monkeypatch, ["93.184.216.34", private])
    with watched() as called, pytest.raises(DeliveryError, match="not an address on the public"):
        webhook_post(
            destination="https://evil.example/hook", body="{}", requester=make_requester(0)
        )
    assert called == []


@pytest.mark.django_db
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_leads_nowhere(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setattr(delivery, "TIMEOUT_SECONDS", 2)
    with webhook_server() as outside:
        outside.statuses = [status]
        with pytest.raises(DeliveryError, match=f"answered {status}"):
            webhook_post(destination=outside.url, body="{}", requester=make_requester(0))
        assert [one.path for one in outside.deliveries] == ["/hook?for=me"]


@pytest.mark.parametrize("address", PUBLIC)
def test_the_internet_itself_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", [host.strip("[]") for host in HOSTS if ":" in host])
def test_no_special_address_is_public(host: str) -> None:
    assert not is_public(host)
