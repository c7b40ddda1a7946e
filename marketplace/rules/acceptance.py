"""The claim in a frame's address: proof that a worker has accepted an assignment.

Anybody can make up assignment and worker ids. Nobody can make up the claim: it is signed with keys
that only the marketplace and the HIT's requester can compute. docs/marketplace-api.md describes it
for requesters.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

import msgspec

VERSION = "1"
# Never the secret itself: it signs the requester's calls, and a key has only one purpose.
_PURPOSE = b"chainbox acceptance 1"


class Accepted(msgspec.Struct, frozen=True):
    """The worker, the assignment, the time of acceptance and the deadline."""

    assignment_id: str
    hit_id: str
    worker_id: str
    accepted_at: datetime
    deadline: datetime


def acceptance_claim(accepted: Accepted, secrets: Mapping[str, str]) -> str:
    """Return the claim, with a signature for each of the requester's access keys.

    `secrets` maps key ids to secrets. A requester who changes keys has two for a while, and the
    marketplace does not know which of them the requester's pages use.
    """
    times = [str(_milliseconds(accepted.accepted_at)), str(_milliseconds(accepted.deadline))]
    ids = [accepted.assignment_id, accepted.hit_id, accepted.worker_id]
    signed = "\n".join([VERSION, *ids, *times]).encode()
    signatures = [f"{key_id}-{_sign(secret, signed)}" for key_id, secret in secrets.items()]
    return ".".join([VERSION, *times, *signatures])


def _sign(secret: str, signed: bytes) -> str:
    key = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
    return hmac.new(key, signed, hashlib.sha256).hexdigest()


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
