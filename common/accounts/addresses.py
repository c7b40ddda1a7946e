"""The address that a request comes from, if it can be determined."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest | None) -> str:
    """Return the client's network address; empty if it is unknown.

    Only the entries of X-Forwarded-For that our own proxies wrote count. If the header is there but
    no proxy is configured, or it has fewer entries than proxies, we know only the proxy's address.
    Counting by that address would lock out everybody behind the proxy.
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
