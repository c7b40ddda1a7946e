"""One image as its page shows it: boxes over the photo, captions in pieces, a table of chains."""

import msgspec

from annotation.dashboard.words import PHASES
from annotation.pipeline.geometry import Rect, intersection
from annotation.pipeline.mentions.mention import ENTITY_TYPES, Mention, mention_text
from annotation.pipeline.protocol.state import (
    BoxStatus,
    Chain,
    ImageState,
    Phase,
    accepted_boxes,
    chain_of,
    chain_types,
    mentions_of,
    unplaced,
)

# Colours in the style sheet that people with any kind of colour vision can tell apart. Chains also
# show their number, so the ninth may reuse the first one's colour.
COLOURS = 8


class Label(msgspec.Struct, frozen=True):
    """A chain's number at its box, in image pixels."""

    text: str
    x: int
    y: int
    width: int
    height: int
    size: int
    # The position of the text within the label.
    text_x: float
    text_y: float


class DrawnBox(msgspec.Struct, frozen=True):
    """A box in the coordinates of an SVG: from 0, with a width and a height."""

    colour: int
    x: int
    y: int
    width: int
    height: int
    is_proposed: bool
    is_faded: bool
    title: str
    label: Label


class Piece(msgspec.Struct, frozen=True):
    """Words of a caption: a mention with its chain's number and colour, or words in between."""

    text: str
    mention: int = 0
    chain: int = 0
    colour: int = 0
    is_visual: bool = False


class CaptionLine(msgspec.Struct, frozen=True):
    number: int
    pieces: tuple[Piece, ...]
    is_unrelated: bool


class ChainLine(msgspec.Struct, frozen=True):
    """A row of the table of chains."""

    number: int
    colour: int
    phrases: tuple[str, ...]
    types: tuple[str, ...]
    phase: str
    phase_kind: str
    boxes: int
    review: str
    scene: bool
    nobndbox: bool


def colour_of(chain: int) -> int:
    return (chain - 1) % COLOURS + 1


def drawn_boxes(state: ImageState, only: int | None = None) -> list[DrawnBox]:
    """Return the accepted and proposed boxes, the largest first, so that no label is hidden.

    `only` is the number of a chain: all other boxes fade.
    """
    shown = [b for b in state.boxes if b.status in (BoxStatus.ACCEPTED, BoxStatus.PROPOSED)]
    size = max(12, round(max(state.width, state.height) / 46))
    taken: list[Rect] = []
    drawn = []
    for box in sorted(shown, key=lambda b: (-b.rect.area, b.number)):
        proposed = box.status is BoxStatus.PROPOSED
        text = "·".join(str(chain) for chain in box.chains)
        label = _label(text, box.rect, size, state, taken)
        taken.append(_label_rect(label))
        chains = " and ".join(f"chain {chain}" for chain in box.chains)
        drawn.append(
            DrawnBox(
                colour=colour_of(box.chains[0]) if box.chains else COLOURS,
                x=box.rect.xmin - 1,
                y=box.rect.ymin - 1,
                width=box.rect.width,
                height=box.rect.height,
                is_proposed=proposed,
                is_faded=only is not None and only not in box.chains,
                title=f"Box {box.number}, {chains}" + (", not checked yet" if proposed else ""),
                label=label,
            )
        )
    # Highlighted boxes are drawn last, above the rest.
    return sorted(drawn, key=lambda box: not box.is_faded)


def caption_lines(state: ImageState) -> list[CaptionLine]:
    """Return the captions, cut at the edges of their mentions."""
    unrelated = {flags.caption for flags in state.flags if flags.unrelated}
    return [
        CaptionLine(
            number=caption.number,
            pieces=_pieces(state, caption.number, caption.tokens),
            is_unrelated=caption.number in unrelated,
        )
        for caption in state.captions
    ]


def chain_lines(state: ImageState) -> list[ChainLine]:
    return [_chain_line(state, chain) for chain in state.chains]


def waiting_phrases(state: ImageState) -> list[str]:
    """Return the phrases that have no chain yet."""
    return [mention_text(mention, state.captions) for mention in unplaced(state)]


def _chain_line(state: ImageState, chain: Chain) -> ChainLine:
    types = chain_types(state, chain)
    phrases = [mention_text(m, state.captions) for m in mentions_of(state, chain.mentions)]
    return ChainLine(
        number=chain.number,
        colour=colour_of(chain.number),
        phrases=tuple(phrases),
        types=tuple(t for t in ENTITY_TYPES if t in types),
        phase=PHASES[chain.phase.value],
        phase_kind=chain.phase.value,
        boxes=len(accepted_boxes(state, chain.number)),
        review=chain.review if chain.phase is Phase.REVIEW else "",
        scene=chain.scene,
        nobndbox=chain.nobndbox,
    )


def _pieces(state: ImageState, caption: int, tokens: tuple[str, ...]) -> tuple[Piece, ...]:
    mentions = sorted((m for m in state.mentions if m.caption == caption), key=lambda m: m.start)
    pieces: list[Piece] = []
    written = 0
    for mention in mentions:
        # A reviewer may have widened a mention over its neighbour: no word is shown twice.
        start = max(mention.start, written)
        if start >= mention.end:
            continue
        if start > written:
            pieces.append(Piece(text=" ".join(tokens[written:start])))
        pieces.append(_mention_piece(state, mention, " ".join(tokens[start : mention.end])))
        written = mention.end
    if written < len(tokens):
        pieces.append(Piece(text=" ".join(tokens[written:])))
    return tuple(pieces)


def _mention_piece(state: ImageState, mention: Mention, text: str) -> Piece:
    chain = chain_of(state, mention.number)
    return Piece(
        text=text,
        mention=mention.number,
        chain=chain.number if chain else 0,
        colour=colour_of(chain.number) if chain else 0,
        is_visual=mention.is_visual,
    )


def _label(text: str, box: Rect, size: int, state: ImageState, taken: list[Rect]) -> Label:
    """Place a label at a corner of its box, or along its top, where no other label is."""
    height = round(size * 1.4)
    width = max(height, round(size * (0.62 * len(text) + 0.7)))
    right = max(0, state.width - width)
    bottom = max(0, state.height - height)
    x, y = box.xmin - 1, box.ymin - 1
    places = [
        *((x + step * width, y) for step in range(3)),
        (box.xmax - width, y),
        (x, box.ymax - height),
        (box.xmax - width, box.ymax - height),
        *((x, y + step * height) for step in range(1, 4)),
    ]
    spots = [(min(max(0, px), right), min(max(0, py), bottom)) for px, py in places]

    def covered(spot: tuple[int, int]) -> int:
        place = Rect(spot[0] + 1, spot[1] + 1, spot[0] + width, spot[1] + height)
        return sum(intersection(place, other) for other in taken)

    px, py = min(spots, key=covered)
    return Label(
        text=text,
        x=px,
        y=py,
        width=width,
        height=height,
        size=size,
        text_x=round(width / 2, 1),
        text_y=round(height / 2, 1),
    )


def _label_rect(label: Label) -> Rect:
    return Rect(label.x + 1, label.y + 1, label.x + label.width, label.y + label.height)
