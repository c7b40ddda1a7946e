"""The environment sets which marketplaces the task pages work with."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from common.web.origins import origin_of, origins_of_hosts, read_origins
from tests.web.server.test_settings import GOOD, settings_of, start

NAMES = ("CHAINBOX_MARKETPLACE_ORIGINS", "CHAINBOX_TASK_URL")


def shown(folder: Path, **values: str) -> tuple[object, ...]:
    settings = settings_of(folder, **values)
    return tuple(settings[name] for name in NAMES)


def test_defaults(tmp_path: Path) -> None:
    assert shown(tmp_path, PORT="8123") == (
        ["http://localhost:8123", "http://127.0.0.1:8123"],
        "http://localhost:8123",
    )
    hosts = GOOD | {"ALLOWED_HOSTS": ".example.org,chainbox.example.org,other.example.org"}
    assert shown(tmp_path, **hosts) == (
        ["https://chainbox.example.org", "https://other.example.org"],
        "https://chainbox.example.org",
    )


def test_a_host_of_their_own(tmp_path: Path) -> None:
    values = {
        "CHAINBOX_MARKETPLACE_ORIGINS": "https://market.example, https://other.example:8443/",
        "CHAINBOX_TASK_URL": "https://tasks.example/",
    }
    assert shown(tmp_path, **GOOD, **values) == (
        ["https://market.example", "https://other.example:8443"],
        "https://tasks.example",
    )


def test_a_bad_origin_stops_the_start(tmp_path: Path) -> None:
    result = start(tmp_path, CHAINBOX_MARKETPLACE_ORIGINS="market.example")
    assert result.returncode != 0
    assert "CHAINBOX_MARKETPLACE_ORIGINS: 'market.example' is not an origin" in result.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("http://market.example", "must begin with https"),
        ("https://market.example/path", "has more than an origin"),
        ("https://market.example?x", "has more than an origin"),
        ("https://user@market.example", "not an origin"),
        ("ftp://market.example", "not an origin"),
        ("https://", "not an origin"),
        ("https://market.example:port", "not an origin"),
        ("'self'", "not an origin"),
    ],
)
def test_what_is_no_origin(text: str, complaint: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=complaint):
        read_origins("X", [text])


def test_origins_are_compared_as_browsers_do() -> None:
    assert origin_of("https://Bücher.example:443/a?b#c") == "https://xn--bcher-kva.example"
    assert origin_of("http://[::1]:8000/") == "http://[::1]:8000"
    assert read_origins("X", ["http://127.0.0.1:80"]) == ["http://127.0.0.1"]
    assert origins_of_hosts(["*", ".a.example", "b.example"]) == ["https://b.example"]
