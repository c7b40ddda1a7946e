"""Review decisions made on a page: about what the reviewer saw, and only once."""

import hashlib

import msgspec
from django.db import transaction

from annotation.actions.protocol.facts import Outcome, decision_record, state_lock
from annotation.pipeline.protocol.facts import Decision, FactRefusedError, Undo
from annotation.pipeline.protocol.state import ImageState, find_chain


def chain_seen(state: ImageState, number: int) -> str:
    """Return a short name for the current state of a chain and its boxes; empty without a chain."""
    chain = find_chain(state, number)
    if chain is None:
        return ""
    boxes = [box for box in state.boxes if number in box.chains]
    return hashlib.sha256(msgspec.json.encode((chain, boxes))).hexdigest()[:16]


@transaction.atomic
def decision_make(*, image_id: int, chain: int, seen: str, decision: Decision | Undo) -> Outcome:
    """Carry out a decision about a chain, if it still is as the reviewer saw it.

    This way a form that is sent twice adds no second box. FactRefusedError says what is wrong.
    """
    stored = state_lock(image_id)
    if chain_seen(stored.state, chain) != seen:
        raise FactRefusedError(
            f"chain {chain} has changed since you opened the page; look at it again, then decide"
        )
    return decision_record(image_id=image_id, decision=decision)
