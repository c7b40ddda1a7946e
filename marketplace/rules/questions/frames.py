"""The address of a requester's page: which are allowed, and what the frame adds."""

import re
from collections.abc import Collection
from urllib.parse import quote, urlsplit

from marketplace.rules.errors import RequestError, invalid_value

PREVIEW_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
# Pages under development: only on these hosts, http is as good as https.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")

# Browsers drop or replace these characters, and so might open another address than we checked.
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]")
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")


def check_external_url(url: str, *, allow_http_hosts: Collection[str] = LOCAL_HOSTS) -> str:
    """Return the address without surrounding white space; refuse one a frame must not show."""
    url = url.strip(" \t\r\n")
    if _UNSAFE.search(url):
        raise _refused(url, "It must not have spaces, control characters or backslashes.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _refused(url, "It is not a complete address.") from error
    if parts.scheme not in ("https", "http"):
        raise _refused(url, "It must begin with https://.")
    if "@" in parts.netloc:
        raise _refused(url, "It must not have a user name or password.")
    try:
        # As browsers and our pages' headers write it: letters of all scripts become ASCII.
        named = host.encode("idna").decode()
    except UnicodeError as error:
        raise _refused(url, "It must name a host.") from error
    if not _HOST.fullmatch(named) or port == 0:
        raise _refused(url, "It must name a host.")
    if parts.scheme == "http" and host not in allow_http_hosts:
        raise _refused(url, "It must begin with https://.")
    return url


def frame_url(
    external_url: str,
    *,
    hit_id: str,
    assignment_id: str | None = None,
    worker_id: str | None = None,
    submit_to: str | None = None,
    acceptance: str | None = None,
) -> str:
    """Return the frame's address: for a preview, or for the worker who has the assignment.

    >>> frame_url("https://example.org/?a=1#top", hit_id="3H")
    'https://example.org/?a=1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3H#top'
    """
    added = {"assignmentId": assignment_id or PREVIEW_ASSIGNMENT, "hitId": hit_id}
    if assignment_id is not None:
        if worker_id is not None:
            added["workerId"] = worker_id
        if submit_to is not None:
            # Pages append "/mturk/externalSubmit" directly to it.
            added["turkSubmitTo"] = submit_to.rstrip("/")
        if acceptance is not None:
            # Not part of MTurk: pages that do not know it ignore it.
            added["acceptance"] = acceptance
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in added.items())
    address, hash_mark, fragment = external_url.partition("#")
    joint = "&" if "?" in address else "?"
    if address.endswith(("?", "&")):
        joint = ""
    return f"{address}{joint}{query}{hash_mark}{fragment}"


def _refused(url: str, reason: str) -> RequestError:
    error = invalid_value("ExternalURL", url[:200])
    return RequestError(error.code, f"{error} {reason}")
