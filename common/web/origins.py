"""Origins: scheme, host and port of an address, as browsers compare them."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_DEFAULT_PORTS = {"http": 80, "https": 443}
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


def origin_of(url: str) -> str:
    """Return the origin of an http or https address; ValueError if it has none.

    >>> origin_of("https://Example.org:443/a?b")
    'https://example.org'
    """
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in _DEFAULT_PORTS or not host or "@" in parts.netloc:
        raise ValueError(f"{url!r} is not the address of a site")
    name = f"[{host}]" if ":" in host else host.encode("idna").decode()
    port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{name}{port}"


def read_origins(variable: str, origins: Iterable[str]) -> list[str]:
    """Check the origins in a variable: https anywhere, http only on this machine."""
    found = []
    for text in origins:
        try:
            origin = origin_of(text)
        except ValueError:
            raise ImproperlyConfigured(
                f"{variable}: {text!r} is not an origin. Write it like https://example.org."
            ) from None
        parts = urlsplit(text)
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ImproperlyConfigured(
                f"{variable}: {text!r} has more than an origin. Write only {origin}."
            )
        if parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
            raise ImproperlyConfigured(f"{variable}: {text!r} must begin with https://.")
        found.append(origin)
    return found


def origins_of_hosts(hosts: Iterable[str]) -> list[str]:
    """Return the https origins of a site's host names; patterns such as .example.org have none."""
    return [f"https://{host}" for host in hosts if not host.startswith((".", "*"))]
