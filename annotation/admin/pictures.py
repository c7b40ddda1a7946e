"""An image on the administration's pages: photo, boxes, captions, facts."""

from typing import Any

from annotation import models
from annotation.dashboard.history import facts_about
from annotation.dashboard.picture import caption_lines, chain_lines, colour_of, drawn_boxes
from annotation.dashboard.words import STATUSES, fact_words
from annotation.models import ImageStatus
from annotation.pipeline.protocol.facts import Body, decode_body
from annotation.pipeline.protocol.state import Box, BoxStatus, Chain, ImageState, find_chain
from annotation.selectors.corpus.photos import photo_url

BOX_WORDS = {
    BoxStatus.ACCEPTED: "accepted",
    BoxStatus.PROPOSED: "not checked yet",
    BoxStatus.DISCARDED: "rejected at Box Quality",
    BoxStatus.REMOVED: "removed",
}
# Limits the page's length; the dashboard shows all facts of an image.
MOST_FACTS = 200


def image_state(image: models.Image) -> ImageState | None:
    """Return the image's state; None if it was withdrawn."""
    stored = image.stored_state
    return None if stored.status == ImageStatus.WITHDRAWN else stored.state


def picture_context(
    image: models.Image, state: ImageState | None, number: int | None, facts: list[models.Fact]
) -> dict[str, Any]:
    """Return what the pages show of an image, or of one of its chains. `facts`: newest first."""
    context: dict[str, Any] = {
        "image": image,
        "campaign": image.campaign,
        "status": image.stored_state.status,
        "status_words": STATUSES[image.stored_state.status],
        "state": state,
        "only": number,
    }
    bodies = [(fact.number, decode_body(fact.body)) for fact in facts]
    if state is None:
        return context | {"history": _history(facts, bodies, None, None)}
    chain = find_chain(state, number) if number is not None else None
    return context | {
        "photo": photo_url(image),
        "boxes": drawn_boxes(state, number),
        "captions": caption_lines(state),
        "chains": chain_lines(state),
        "chain_colour": colour_of(number or 1),
        "chain_boxes": _box_rows(state, chain) if chain is not None else [],
        "history": _history(facts, bodies, state, chain),
    }


def _history(
    facts: list[models.Fact],
    bodies: list[tuple[int, Body]],
    state: ImageState | None,
    chain: Chain | None,
) -> list[dict[str, Any]]:
    about = None
    if state is not None and chain is not None:
        about = facts_about(reversed(bodies), state, chain)
    shown = [
        {"fact": fact, "words": fact_words(body, state), "is_late": fact.counted is False}
        for fact, (number, body) in zip(facts, bodies, strict=True)
        if about is None or number in about
    ]
    return shown[:MOST_FACTS]


def _box_rows(state: ImageState, chain: Chain) -> list[tuple[Box, str]]:
    return [(box, BOX_WORDS[box.status]) for box in state.boxes if chain.number in box.chains]
