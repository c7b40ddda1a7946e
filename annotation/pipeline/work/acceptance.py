"""The marketplace's claim that a worker has accepted an assignment, read and checked.

Anyone can make up the rest of a frame's address. This claim is signed with a key derived from our
access key's secret, which only the marketplace and we know. docs/marketplace-api.md describes the
format.
"""

import hashlib
import hmac
import re

import msgspec

_CLAIM = re.compile(r"1\.(\d{1,15})\.(\d{1,15})((?:\.[A-Za-z0-9]{1,64}-[0-9a-f]{64}){1,20})")
_PURPOSE = b"chainbox acceptance 1"
# How far the marketplace's clock may differ from ours before somebody is turned away: each may be
# up to ten minutes off.
SKEW_MILLISECONDS = 20 * 60 * 1000


class BadAcceptanceError(ValueError):
    """The claim was not signed for this assignment, HIT and worker with our key."""


class Acceptance(msgspec.Struct, frozen=True):
    """When a worker accepted an assignment and until when it is theirs, in milliseconds.

    Times are by the marketplace's clock, since 1970.
    """

    accepted: int
    deadline: int

    def is_over(self, now: int) -> bool:
        """Tell whether the worker's time for the assignment has surely run out."""
        return now > self.deadline + SKEW_MILLISECONDS


def acceptance_read(
    text: str, *, assignment_id: str, hit_id: str, worker: str, key_id: str, secret: str
) -> Acceptance:
    """Return what a claim says about this assignment, if it is signed with our key.

    Raises BadAcceptanceError. A claim has one signature for each of our access keys.
    """
    found = _CLAIM.fullmatch(text)
    if found is None or not key_id or not secret:
        raise BadAcceptanceError
    accepted, deadline, signatures = found.groups()
    given = dict(part.split("-", 1) for part in signatures[1:].split("."))
    signed = "\n".join(["1", assignment_id, hit_id, worker, accepted, deadline]).encode()
    key = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
    wanted = hmac.new(key, signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted, given.get(key_id, "")):
        raise BadAcceptanceError
    return Acceptance(accepted=int(accepted), deadline=int(deadline))
