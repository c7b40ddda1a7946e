"""Where notifications may go: a webhook's address."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from marketplace.rules.errors import RequestError

LONGEST = 500
_LOCAL = ("localhost", "127.0.0.1", "::1")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_QUEUES = ("sqs.", "sns.", "queue.")


def invalid_endpoint(reason: str) -> RequestError:
    return RequestError(
        "InvalidTransportEndpoint", f"The notification endpoint is not valid: {reason}"
    )


def destination_check(destination: str, transport: str) -> None:
    """Refuse what is no webhook: Amazon's queues and topics, e-mail, plain http elsewhere."""
    if transport == "Email":
        raise invalid_endpoint("notifications by e-mail are not sent; give a webhook's https URL.")
    if destination.startswith("arn:"):
        raise invalid_endpoint(
            "queues and topics named by an ARN are not served; give a webhook's https URL."
        )
    if len(destination) > LONGEST:
        raise invalid_endpoint(f"it is longer than {LONGEST} characters.")
    try:
        parts = urlsplit(destination)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise invalid_endpoint("it is not a URL.") from None
    if parts.scheme not in ("http", "https") or not host or _is_untidy(destination):
        raise invalid_endpoint("it is not an http or https URL.")
    if parts.username or parts.password:
        raise invalid_endpoint("its URL must not hold a user name or password.")
    if host.endswith(".amazonaws.com") and host.startswith(_QUEUES):
        raise invalid_endpoint("Amazon's queues are not served; give a webhook's https URL.")
    if parts.scheme == "http" and host not in _LOCAL:
        raise invalid_endpoint("it must begin with https (http is for localhost only).")


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet, not of a network of ours.

    >>> is_public("93.184.216.34"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        # Addresses of the older internet inside: what counts is where they lead.
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFF_FFFF)
        if inner is not None:
            return inner.is_global and not inner.is_multicast
    return ip.is_global and not ip.is_multicast and ip not in _LOCAL_NAT64


def _is_untidy(destination: str) -> bool:
    return not destination.isascii() or any(c.isspace() or ord(c) < 32 for c in destination)
