"""Messages to and from the task pages' script; `frontend/src/protocol.ts` defines the same."""

from typing import Annotated, Literal

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage

Way = Literal["drag", "extreme"]
Reason = Literal["not_the_thing", "not_tight", "several_things", "already_covered"]
Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
# JavaScript's largest exact integer.
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
    """A worker's answer to one question. Strict, since it comes from outside."""

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
    """The worker's standing at the stage, in words for them."""

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
    # A test that shows what was right only after the marketplace has confirmed the assignment.
    withheld: bool = False


class Draft(_Wire, frozen=True):
    """The body of `draft`. `sitting` 0: the open one; `at` 0: later than everything sent before."""

    number: Count
    answer: Answer | None
    sitting: Large = 0
    at: Large = 0


class Saved(_Wire, frozen=True):
    """The reply to `draft` and `consent`."""

    feedback: Feedback | None = None
    # How long the questions stay reserved from now on; null: unchanged.
    seconds_left: int | None = None
    # The ticket to use from now on; empty: unchanged.
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
    """The body of `consent`: the version that the worker read."""

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
    """The data within the page, in `<script id="page" type="application/json">`."""

    mode: Literal["work", "test", "preview", "examples", "problem"]
    stage: Stage
    guide: Guide
    api: str
    token: str = ""
    submit_url: str = ""
    assignment_id: str = ""
    # Stands for this worker at this assignment, the same after every reload, and reveals nothing
    # to others: the browser stores answers under it. Empty: it stores none.
    sitting_key: str = ""
    consent: ConsentText | None = None
    items: tuple[Item, ...] = ()
    problem: PageProblem | None = None
