"""Where notifications may go: the rules for a webhook's address."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from marketplace.rules.errors import RequestError

LONGEST = 500
_LOCAL = ("localhost", "127.0.0.1", "::1")
# The only part of IPv6 that is allocated for the public internet.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Networks whose addresses embed an IPv4 address, and how far from the right it stands.
_EMBEDDED = (
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64, over the internet
    (IPv6Network("2002::/16"), 80),  # 6to4
)
# Inside 2000::/3, but not public hosts (IANA's special-purpose registry).
_SPECIAL = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID, drones and others
            "2001:db8::/32",  # documentation
            "3fff::/20",  # documentation
            "3ffe::/16",  # the 6bone, given back
            "2620:4f:8000::/48",  # AS112: answers for private addresses
        ),
    )
)
_SPECIAL_4 = tuple(
    map(
        IPv4Network,
        (
            "192.0.0.0/24",  # protocol assignments
            "192.88.99.0/24",  # relays of 6to4, given up
            "192.31.196.0/24",  # AS112
            "192.175.48.0/24",  # AS112
            "192.52.193.0/24",  # multicast relays
        ),
    )
)
_QUEUES = ("sqs.", "sns.", "queue.")


def invalid_endpoint(reason: str) -> RequestError:
    return RequestError(
        "InvalidTransportEndpoint", f"The notification endpoint is not valid: {reason}"
    )


def destination_check(destination: str, transport: str) -> None:
    """Refuse anything but a webhook: Amazon's queues and topics, e-mail, non-local plain http."""
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
    """Tell whether an IP address belongs to the public internet, not to one of our networks.

    >>> is_public("93.184.216.34"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return _is_public_ipv4(ip)
    for network, shift in _EMBEDDED:
        if ip in network:
            # For an embedded IPv4 address, check where it leads.
            return _is_public_ipv4(IPv4Address(int(ip) >> shift & 0xFFFF_FFFF))
    # An address outside the public internet has some special purpose, known today or not.
    if ip not in _GLOBAL_UNICAST or any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not _is_isatap(ip)


def _is_public_ipv4(ip: IPv4Address) -> bool:
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _SPECIAL_4)


def _is_isatap(ip: IPv6Address) -> bool:
    """Tell whether the address names a host of an IPv4 network by its interface (RFC 5214)."""
    return int(ip) >> 32 & 0xFCFF_FFFF == 0x0000_5EFE


def _is_untidy(destination: str) -> bool:
    return not destination.isascii() or any(c.isspace() or ord(c) < 32 for c in destination)
