"""The address a request comes from, as far as it can be known."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest | None) -> str:
    """Return the client's network address; empty if it cannot be known.

    X-Forwarded-For counts only as far as our own proxies wrote it. Where the header is there and
    no proxy is configured, or fewer entries than proxies, all we know is the proxy: to count by
    its address would shut out everybody behind it.
    """
    if request is None:
        return ""
    header = request.headers.get("X-Forwarded-For")
    trusted: int = settings.TRUSTED_PROXIES
    if not trusted:
        return "" if header is not None else _network(str(request.META.get("REMOTE_ADDR", "")))
    forwarded = (header or "").split(",")
    return _network(forwarded[-trusted].strip()) if len(forwarded) >= trusted else ""


def _network(text: str) -> str:
    """Return the address; for IPv6 the /64 that one household or machine usually has to itself."""
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((int(address), 64), strict=False))
    return str(address)
