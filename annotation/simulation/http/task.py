"""A task page as its script uses it: consent, opening, drafts, finishing, submitting."""

import time
from collections.abc import Mapping, Sequence
from typing import TypeVar
from urllib.parse import urljoin

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.simulation.http.browser import Browser, Reply, UnreachableError
from annotation.simulation.http.pages import Page

T = TypeVar("T")


class RefusedError(RuntimeError):
    """The server refuses, for the reason that `kind` names."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Wire(msgspec.Struct, frozen=True, rename="camel"):
    # Only those fields of the server's reply that a simulated worker uses.
    pass


class Given(_Wire, frozen=True, omit_defaults=True):
    """An answer as the page sends it; a single answer needs no number."""

    answer: str
    rect: Rect | None = None
    way: str = ""
    milliseconds: int = 0
    number: int = 0


class _Item(_Wire, frozen=True):
    number: int
    answer: Given | None = None


class _Score(_Wire, frozen=True):
    passed: bool


class Finished(_Wire, frozen=True):
    """The reply to `finish`: what the marketplace's form must hold, and how a test went."""

    fields: dict[str, str]
    score: _Score | None = None

    @property
    def passed(self) -> bool:
        return self.score is not None and self.score.passed


class Sitting(_Wire, frozen=True):
    """The reply to `open`."""

    id: int
    clock: int
    items: tuple[_Item, ...]
    ways: tuple[str, ...]
    finished: bool
    fields: dict[str, str] | None
    score: _Score | None = None
    empty: str = ""

    @property
    def outcome(self) -> Finished | None:
        """The reply to finishing the sitting, if it was finished."""
        return Finished(self.fields, self.score) if self.fields is not None else None

    @property
    def answered(self) -> dict[int, Given]:
        """Earlier answers by number; in a test they are final."""
        return {
            item.number: msgspec.structs.replace(item.answer, number=item.number)
            for item in self.items
            if item.answer is not None and item.answer.answer
        }


# Seconds between tries, as in the pages' `retrying.ts`, before the request is given up.
PAUSES = (0.5, 1, 2, 4)


class _Problem(_Wire, frozen=True):
    error: str
    message: str


class _Consent(_Wire, frozen=True):
    version: int


class _Agreed(_Wire, frozen=True):
    # The ticket to continue with, if it has changed.
    token: str = ""


class _PageData(_Wire, frozen=True):
    mode: str
    api: str
    token: str = ""
    submit_url: str = ""
    assignment_id: str = ""
    consent: _Consent | None = None


class TaskPage:
    """The page in the frame. It has no cookies: its address alone identifies the worker."""

    def __init__(self, browser: Browser, frame: str) -> None:
        self.browser = browser
        self.url = frame
        reply = browser.get(frame, cookies=False)
        text = Page(reply.url, reply.text).json.get("page", "")
        if not text:
            raise RefusedError("not_found", f"the page in the frame answered {reply.status}")
        self.data = msgspec.json.decode(text, type=_PageData)
        if not self.data.token:
            raise RefusedError("bad_request", f"the page in the frame is for {self.data.mode}")
        self._token = self.data.token
        self._sitting = 0
        self._clock = 0

    def agree(self) -> None:
        """Agree to the study's text, if the page asks for it."""
        if self.data.consent is not None:
            agreed = self._call("consent", {"version": self.data.consent.version}, _Agreed)
            self._token = agreed.token or self._token

    def open(self) -> Sitting:
        """Get the questions; the same ones again if they were given out before."""
        sitting = self._call("open", {}, Sitting)
        self._sitting, self._clock = sitting.id, sitting.clock
        return sitting

    def draft(self, given: Given) -> None:
        """Keep an answer on the server, as the page does as soon as it is given."""
        answer = msgspec.structs.replace(given, number=0)
        # The page sends its own clock; it only has to go forward.
        self._clock += 1
        draft = {"sitting": self._sitting, "at": self._clock, "number": given.number}
        self._call("draft", {**draft, "answer": answer}, dict)

    def finish(self, answers: Sequence[Given]) -> Finished:
        """Submit all answers."""
        sent = {"sitting": self._sitting, "answers": answers}
        return self._call("finish", sent, Finished)

    def submit(self, fields: Mapping[str, str]) -> None:
        """Send the marketplace's form; this is the last step, whether it is refused or not."""
        form = {**fields, "assignmentId": self.data.assignment_id}
        reply = self.browser.post_form(self.data.submit_url, form, cookies=False)
        # 409: it was submitted before, and the reply was lost.
        if reply.status not in (200, 409):
            raise RefusedError("submit", Page(reply.url, reply.text).heading)

    def _call(self, name: str, body: object, type_: type[T]) -> T:
        address = urljoin(self.url, f"{self.data.api}{name}")
        reply = self._post(address, body)
        if reply.status != 200:
            raise _refused(reply)
        return msgspec.json.decode(reply.body, type=type_)

    def _post(self, address: str, body: object) -> Reply:
        """Send a request; like the page, retry if the server cannot handle it now."""
        for pause in PAUSES:
            try:
                return self.browser.post_json(address, body, token=self._token)
            except UnreachableError:
                time.sleep(pause)
        return self.browser.post_json(address, body, token=self._token)


def _refused(reply: Reply) -> Exception:
    try:
        problem = msgspec.json.decode(reply.body, type=_Problem)
    except msgspec.DecodeError:
        return UnreachableError(f"{reply.url} answered {reply.status}")
    return RefusedError(problem.error, problem.message)
