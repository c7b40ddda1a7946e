"""The marketplace as a worker uses it: an account, groups of HITs, accepting, giving back."""

import re
from typing import Final
from urllib.parse import parse_qs, urljoin, urlsplit

import msgspec

from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.simulation.http.browser import Browser, Reply, UnreachableError
from annotation.simulation.http.pages import Page

_TASK: Final = re.compile(r"/hits/(?P<campaign>\d+)/(?P<stage>[a-z]+)/(?P<test>test/)?$")
_WORK: Final = re.compile(r"/work/([^/]+)/$")


class TurnedAwayError(RuntimeError):
    """The marketplace does not let a worker in; the message is its reason."""


class Task(msgspec.Struct, frozen=True):
    """What the HITs of a group are about."""

    campaign: int
    stage: Stage
    kind: SittingKind


class Account(msgspec.Struct, frozen=True):
    """How a worker logs in; `invitation` lets them sign up where one is needed."""

    username: str
    password: str
    invitation: str = ""


class Place(msgspec.Struct, frozen=True):
    """An accepted HIT: its assignment, and the address of the page in the frame."""

    assignment_id: str
    frame: str


class WorkerSite:
    """The pages of the marketplace, through one worker's browser."""

    def __init__(self, url: str, browser: Browser) -> None:
        # Ends with a slash, because addresses on the page are relative to it.
        self.url = urljoin(url.rstrip("/") + "/", "marketplace/")
        self.browser = browser
        self.worker = ""
        self._token = ""

    def enter(self, account: Account) -> str:
        """Sign up, or sign in if there is such an account; return the worker's id."""
        code = f"?code={account.invitation}" if account.invitation else ""
        page = self._read(self.browser.get(f"{self.url}sign-up/{code}"))
        form = page.form_to("/sign-up/")
        if form is not None:
            fields = form.fields | {
                "username": account.username,
                "password": account.password,
                "password_again": account.password,
                "country": "DE",
                "agrees": "on",
            }
            page = self._read(self.browser.post_form(form.action, fields, referrer=page.url))
        if not self.worker:
            page = self._sign_in(account, page.heading)
        return self.worker

    def groups(self) -> list[str]:
        """Return the groups of HITs that the worker may accept, on the first page of them."""
        return self._read(self.browser.get(f"{self.url}?qualified=on")).groups

    def task_of(self, group: str) -> Task | None:
        """Look at a group's preview; None: it is not ours, or has no HITs left."""
        page = self._read(self.browser.get(f"{self.url}groups/{group}/"))
        return task_of(page.frame)

    def accept(self, group: str) -> Place | None:
        """Accept a HIT of the group; None: there is none for this worker any more."""
        fields = {"csrfmiddlewaretoken": self._token}
        reply = self.browser.post_form(
            f"{self.url}groups/{group}/accept/", fields, referrer=self.url
        )
        return self._place(reply)

    def held(self) -> list[Place]:
        """Return the HITs that the worker accepted before and neither finished nor gave back."""
        page = self._read(self.browser.get(f"{self.url}work/"))
        returns = [form.action for form in page.forms if form.action.endswith("/return/")]
        places = [
            self._place(self.browser.get(address.removesuffix("return/"))) for address in returns
        ]
        return [place for place in places if place is not None]

    def give_back(self, place: Place) -> None:
        """Return a HIT; whatever the marketplace says, it is no longer this worker's."""
        fields = {"csrfmiddlewaretoken": self._token}
        self._read(
            self.browser.post_form(
                f"{self.url}work/{place.assignment_id}/return/", fields, referrer=self.url
            )
        )

    def _place(self, reply: Reply) -> Place | None:
        page = self._read(reply)
        found = _WORK.search(reply.path)
        return Place(found[1], page.frame) if found and page.frame else None

    def _sign_in(self, account: Account, said: str) -> Page:
        page = self._read(self.browser.get(f"{self.url}login/"))
        fields = {
            "csrfmiddlewaretoken": page.token,
            "username": account.username,
            "password": account.password,
        }
        page = self._read(self.browser.post_form(f"{self.url}login/", fields, referrer=page.url))
        if not self.worker:
            raise TurnedAwayError(
                f"{self.url} lets {account.username} neither sign up ({said}) nor sign in."
            )
        return page

    def _read(self, reply: Reply) -> Page:
        if reply.status == 403:
            # The token in a form is valid for one session: another page has the next.
            raise UnreachableError(f"{reply.url} answered 403")
        page = Page(reply.url, reply.text)
        if self.worker and reply.path.endswith("/login/"):
            self.worker = ""
            raise UnreachableError("the marketplace asks to sign in again")
        self._token = page.token or self._token
        self.worker = next(iter(page.codes), self.worker)
        return page


def task_of(frame: str) -> Task | None:
    """Say what the page in a frame is about.

    >>> task_of("http://localhost/hits/3/links/test/?hitId=A")
    Task(campaign=3, stage=<Stage.LINKS: 'links'>, kind=SittingKind.TEST)
    """
    found = _TASK.search(urlsplit(frame).path)
    if found is None or found["stage"] not in [stage.value for stage in Stage]:
        return None
    kind = SittingKind.TEST if found["test"] else SittingKind.WORK
    return Task(campaign=int(found["campaign"]), stage=Stage(found["stage"]), kind=kind)


def worker_of(frame: str) -> str:
    """Return the worker that the marketplace names for a frame."""
    return next(iter(parse_qs(urlsplit(frame).query).get("workerId", [])), "")
