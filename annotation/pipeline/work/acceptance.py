"""The marketplace's claim that a worker has accepted an assignment, read and checked.

Everything else in a frame's address can be made up. This is signed with a key that is derived from
our access key's secret, which only the marketplace and we know. The format is described in
docs/marketplace-api.md.
"""

import hashlib
import hmac
import re

import msgspec

_CLAIM = re.compile(r"1\.(\d{1,15})\.(\d{1,15})((?:\.[A-Za-z0-9]{1,64}-[0-9a-f]{64}){1,20})")
_PURPOSE = b"chainbox acceptance 1"
# How far the marketplace's clock may be from ours, each being up to ten minutes off, before
# somebody is turned away for it.
SKEW_MILLISECONDS = 20 * 60 * 1000


class BadAcceptanceError(ValueError):
    """The claim was not signed for this assignment, HIT and worker with our key."""


class Acceptance(msgspec.Struct, frozen=True):
    """When an assignment was accepted and until when it is the worker's, in milliseconds.

    By the marketplace's clock, since 1970.
    """

    accepted: int
    deadline: int

    def is_over(self, now: int) -> bool:
        """Tell whether the worker's time with the assignment has surely run out."""
        return now > self.deadline + SKEW_MILLISECONDS


def acceptance_read(
    text: str, *, assignment_id: str, hit_id: str, worker: str, key_id: str, secret: str
) -> Acceptance:
    """Return what a claim says of this assignment, if it is signed with our key.

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
