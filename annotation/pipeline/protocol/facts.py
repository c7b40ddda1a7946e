"""Facts: everything that an image's state is folded from. They are appended, never changed."""

from enum import StrEnum

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Question
from annotation.pipeline.protocol.settings import Settings


class FactRefusedError(ValueError):
    """The fact contradicts the image's state or makes no sense; it must not be stored."""


class Judgment(msgspec.Struct, frozen=True, tag="judgment", omit_defaults=True):
    """One worker's answer to one question."""

    worker: int
    question: Question
    answer: str
    rect: Rect | None = None
    # What the worker reports besides the answer: mentions cut wrongly, captions not about the
    # image.
    cut_wrongly: tuple[int, ...] = ()
    unrelated: tuple[int, ...] = ()
    # How the answer came about, for studies of the protocol: how long the worker looked, how the
    # box was drawn, and why a box is bad. No rule uses these.
    milliseconds: int = 0
    way: str = ""
    reasons: tuple[str, ...] = ()


class ImportedChain(msgspec.Struct, frozen=True, omit_defaults=True):
    """A chain of an accepted import; the flags matter only if it has no box."""

    mentions: tuple[int, ...]
    scene: bool = False
    nobndbox: bool = False
    public_id: int = 0
    indents: tuple[str, ...] | None = None


class ImportedBox(msgspec.Struct, frozen=True, omit_defaults=True):
    """A box of an accepted import; `chains` are positions in the import's chains, from 1."""

    chains: tuple[int, ...]
    rect: Rect
    indents: tuple[str, ...] | None = None


class AcceptedImport(msgspec.Struct, frozen=True, tag="accepted_import", omit_defaults=True):
    """Finished annotation that came with the corpus."""

    chains: tuple[ImportedChain, ...]
    boxes: tuple[ImportedBox, ...]
    unrelated: tuple[int, ...] = ()


class Doubt(msgspec.Struct, frozen=True, tag="doubt", omit_defaults=True):
    """The judgment with this number is not reliable: its author was revoked."""

    judgment: int
    reason: str = ""


# Review decisions: `reviewer` is the account that decided, or 0 for the system itself.


class FixSpan(msgspec.Struct, frozen=True, tag="fix_span"):
    """The mention really consists of these tokens of its caption."""

    reviewer: int
    mention: int
    start: int
    end: int


class Retype(msgspec.Struct, frozen=True, tag="retype"):
    """The mention has these types; `notvisual` takes it out of its chain."""

    reviewer: int
    mention: int
    types: tuple[str, ...]


class Split(msgspec.Struct, frozen=True, tag="split", omit_defaults=True):
    """These mentions leave the chain for a new one and take these boxes along."""

    reviewer: int
    chain: int
    mentions: tuple[int, ...]
    boxes: tuple[int, ...] = ()


class Join(msgspec.Struct, frozen=True, tag="join"):
    """These chains are really one; the lowest number stays."""

    reviewer: int
    chains: tuple[int, ...]


class BoxAdd(msgspec.Struct, frozen=True, tag="box_add"):
    reviewer: int
    chain: int
    rect: Rect


class BoxAdjust(msgspec.Struct, frozen=True, tag="box_adjust"):
    reviewer: int
    box: int
    rect: Rect


class BoxDelete(msgspec.Struct, frozen=True, tag="box_delete"):
    """The box is removed from every chain that it belongs to."""

    reviewer: int
    box: int


class NoBox(msgspec.Struct, frozen=True, tag="no_box"):
    """The chain is settled as a scene, as without a box, or as both."""

    reviewer: int
    chain: int
    scene: bool
    nobndbox: bool


class CaptionUnrelated(msgspec.Struct, frozen=True, tag="caption_unrelated"):
    """The caption is, or is not, about another image; ends the image's own review."""

    reviewer: int
    caption: int
    unrelated: bool


class Target(StrEnum):
    """Where a reviewer can send a chain."""

    LINKS = "links"
    VERIFICATION = "verification"
    REQUIREMENT = "requirement"
    DRAWING = "drawing"
    COVERAGE = "coverage"
    COMPLETE = "complete"
    REVIEW = "review"


class SendTo(msgspec.Struct, frozen=True, tag="send_to", omit_defaults=True):
    """The chain goes back to a stage, is declared complete, or goes to review."""

    reviewer: int
    chain: int
    target: Target
    reason: str = ""


class Undo(msgspec.Struct, frozen=True, tag="undo"):
    """The review decision with this number is undone."""

    reviewer: int
    decision: int


Decision = (
    FixSpan
    | Retype
    | Split
    | Join
    | BoxAdd
    | BoxAdjust
    | BoxDelete
    | NoBox
    | CaptionUnrelated
    | SendTo
)
Body = Judgment | AcceptedImport | Doubt | Decision | Undo


class Fact(msgspec.Struct, frozen=True):
    """A body, its number in the image's sequence (from 1) and the settings it was made under."""

    number: int
    settings: Settings
    body: Body


def body_kind(body: Body) -> str:
    """Return the fact's kind as it is stored, such as `judgment` or `box_add`."""
    kind = body.__struct_config__.tag
    assert isinstance(kind, str)  # every body above has a text tag
    return kind


_decode = msgspec.json.Decoder(Body)


def encode_body(body: Body) -> str:
    return msgspec.json.encode(body).decode()


def decode_body(text: str) -> Body:
    body: Body = _decode.decode(text)
    return body
