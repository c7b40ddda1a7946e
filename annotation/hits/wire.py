"""What the task pages' script gets and sends; `frontend/src/protocol.ts` says the same."""

from typing import Annotated, Literal

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage

Way = Literal["drag", "extreme"]
Reason = Literal["not_the_thing", "not_tight", "several_things", "already_covered"]
Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
# As large as a script's whole numbers are.
Large = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]


class _Wire(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pass


class Mark(_Wire, frozen=True):
    mention: int
    start: int
    end: int
    colour: int


class Caption(_Wire, frozen=True):
    number: int
    tokens: tuple[str, ...]
    marks: tuple[Mark, ...]


class Photo(_Wire, frozen=True):
    url: str
    width: int
    height: int


class Answer(_Wire, frozen=True):
    """What a worker says to one question. Strict: it comes from outside."""

    answer: Annotated[str, msgspec.Meta(max_length=10)]
    rect: Rect | None = None
    way: Way | Literal[""] = ""
    milliseconds: Annotated[int, msgspec.Meta(ge=0, le=86_400_000)] = 0
    reasons: Annotated[tuple[Reason, ...], msgspec.Meta(max_length=4)] = ()
    cut_wrongly: Annotated[tuple[Count, ...], msgspec.Meta(max_length=20)] = ()
    unrelated: Annotated[tuple[Count, ...], msgspec.Meta(max_length=20)] = ()
    comment: Annotated[str, msgspec.Meta(max_length=2000)] = ""


class NumberedAnswer(Answer, frozen=True):
    number: Count = msgspec.field(default=0)


class Feedback(_Wire, frozen=True):
    right: bool | None
    expected: str
    expected_rects: tuple[Rect, ...]
    why: str


class Item(_Wire, frozen=True):
    number: int
    photo: Photo
    captions: tuple[Caption, ...]
    phrase: str
    boxes: tuple[Rect, ...] = ()
    candidate: Rect | None = None
    answer: Answer | None = None
    feedback: Feedback | None = None


class Guide(_Wire, frozen=True):
    title: str
    question: str
    guidelines: tuple[str, ...]
    examples_url: str


class ConsentText(_Wire, frozen=True):
    version: int
    title: str
    paragraphs: tuple[str, ...]


class Score(_Wire, frozen=True):
    right: int
    asked: int
    needed: float
    passed: bool


class Standing(_Wire, frozen=True):
    """Where the worker stands at the stage, in words for them."""

    title: str
    lines: tuple[str, ...]


class Sitting(_Wire, frozen=True):
    """The reply to `open`. Its id is 0 where there is none; the clock is in milliseconds."""

    id: int
    clock: int
    items: tuple[Item, ...]
    ways: tuple[Way, ...]
    seconds_left: int
    finished: bool
    fields: dict[str, str] | None
    score: Score | None
    empty: Literal["", "with_others", "nothing_left"]
    standing: Standing | None = None
    # A test that says what was right only when the marketplace has confirmed the assignment.
    withheld: bool = False


class Draft(_Wire, frozen=True):
    """The body of `draft`. 0: for whatever sitting is open; after all that was sent before."""

    number: Count
    answer: Answer | None
    sitting: Large = 0
    at: Large = 0


class Saved(_Wire, frozen=True):
    """The reply to `draft` and `consent`."""

    feedback: Feedback | None = None
    # How long the questions are kept from now on; null: as long as was said before.
    seconds_left: int | None = None
    # The ticket to go on with; empty: the one that the page has.
    token: str = ""


class Finish(_Wire, frozen=True):
    """The body of `finish`: all answers."""

    answers: Annotated[tuple[NumberedAnswer, ...], msgspec.Meta(max_length=100)]
    sitting: Large = 0


class Finished(_Wire, frozen=True):
    fields: dict[str, str]
    score: Score | None
    standing: Standing | None = None


class Agreement(_Wire, frozen=True):
    """The body of `consent`: the version that was read."""

    version: int


class Problem(_Wire, frozen=True):
    error: Literal[
        "bad_request",
        "bad_token",
        "expired",
        "consent",
        "not_found",
        "finished",
        "answered",
        "incomplete",
        "not_qualified",
        "not_yet",
    ]
    message: str


class PageProblem(_Wire, frozen=True):
    title: str
    text: str


class Page(_Wire, frozen=True):
    """What the page itself brings along, in `<script id="page" type="application/json">`."""

    mode: Literal["work", "test", "preview", "examples", "problem"]
    stage: Stage
    guide: Guide
    api: str
    token: str = ""
    submit_url: str = ""
    assignment_id: str = ""
    # Names this worker at this assignment, the same after every reload, and tells others nothing:
    # the browser keeps answers under it. Empty: it keeps none.
    sitting_key: str = ""
    consent: ConsentText | None = None
    items: tuple[Item, ...] = ()
    problem: PageProblem | None = None
