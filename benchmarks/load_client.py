"""The behaviour of Locust's users: whole sittings, and visits to the dashboard.

A sitting lasts from acceptance to submission. Its task page is opened at the address that the
marketplace's page gives, as browsers do. Users send each request as soon as the last is answered.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
import locust
import msgspec
from django.conf import settings
from locust import User, constant, tag, task

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# After the setup: the code that reads the marketplace's pages needs stages and kinds of sittings.
from annotation.pipeline.protocol.questions import NO  # noqa: E402
from annotation.simulation.http.browser import Browser, Reply, UnreachableError  # noqa: E402
from annotation.simulation.http.site import WorkerSite  # noqa: E402
from annotation.simulation.http.task import Given, RefusedError, TaskPage  # noqa: E402
from benchmarks.load_site import LoadPlan  # noqa: E402

# Locust gives no types for the functions that it calls.
events: Any = locust.events
PLAN = msgspec.json.decode(Path(os.environ["LOAD_PLAN"]).read_bytes(), type=LoadPlan)


class Measured(Browser):
    """A browser that reports every request to Locust, under a name for its kind."""

    def __init__(self, session: str) -> None:
        super().__init__()
        host = urlsplit(PLAN.url).hostname or ""
        self._cookies[host] = {settings.SESSION_COOKIE_NAME: session} if session else {}

    def _send(self, method: str, url: str, *given: Any, **named: Any) -> Reply:
        began = time.perf_counter()
        error: Exception | None = None
        reply = None
        try:
            reply = super()._send(method, url, *given, **named)
            if reply.status >= 400:
                error = RuntimeError(f"{url} says {reply.status}")
        except UnreachableError as failure:
            error = failure
            raise
        finally:
            events.request.fire(
                request_type=method,
                name=kind_of(url),
                response_time=(time.perf_counter() - began) * 1000,
                response_length=len(reply.body) if reply else 0,
                exception=error,
                context={},
            )
        return reply


def kind_of(url: str) -> str:
    """Name a kind of request: its path without the parts that vary.

    >>> kind_of("http://localhost/hits/3/links/?hitId=A"), kind_of("http://a/hits/api/open")
    ('/hits/…/links', '/hits/api/open')
    """
    parts = urlsplit(url).path.strip("/").split("/")
    return "/" + "/".join("…" if any(c.isdigit() for c in part) else part for part in parts)


def _numbered() -> Iterator[str]:
    while True:
        yield from PLAN.workers


_sessions = _numbered()


class Worker(User):
    """Does one sitting after another."""

    wait_time = constant(0)
    weight = 7

    def on_start(self) -> None:
        """Start with a browser that is signed in."""
        self.browser = Measured(next(_sessions))
        self.site = WorkerSite(PLAN.url, self.browser)
        # Every page of the site has the token that its forms need.
        self.site.groups()

    @tag("site")
    @task
    def sit(self) -> None:
        """Accept a HIT, open its sitting, keep each answer, finish, submit."""
        try:
            place = self.site.accept(PLAN.group)
            if place is None:
                raise RefusedError("not_found", "there is no HIT left: a shorter run, or more HITs")
            page = TaskPage(self.browser, place.frame)
            page.agree()
            sitting = page.open()
            answers = [Given(answer=NO, number=item.number) for item in sitting.items]
            if not answers:
                raise RefusedError("empty", "there is no question left")
            for given in answers:
                page.draft(given)
            page.submit(page.finish(answers).fields)
        except (RefusedError, UnreachableError) as error:
            events.request.fire(
                request_type="",
                name="sitting given up",
                response_time=0,
                response_length=0,
                exception=error,
                context={},
            )


class Researcher(User):
    """Looks at one page of the dashboard after another."""

    wait_time = constant(0)
    weight = 1

    def on_start(self) -> None:
        """Start with a browser that is signed in."""
        self.browser = Measured(PLAN.researcher)

    @tag("site")
    @task
    def look(self) -> None:
        """View the campaigns, one of them, its crowd and an image."""
        campaign = f"{PLAN.url}/campaigns/{PLAN.campaign}/"
        for address in (PLAN.url, campaign, f"{campaign}crowd/", f"{campaign}images/image-7/"):
            self.browser.get(address)


class Bare(User):
    """Requests the bare view."""

    wait_time = constant(0)

    def on_start(self) -> None:
        """Start without any setup."""
        self.browser = Measured("")

    @tag("bare")
    @task
    def ask(self) -> None:
        """Send one request."""
        self.browser.get(f"{PLAN.bare_url}/bare")


def write_figures(environment: Any, **_: Any) -> None:
    """Write the measurements to the file that the benchmark reads."""
    entries = [environment.stats.total, *environment.stats.entries.values()]
    figures = [
        {
            "name": entry.name,
            "requests": entry.num_requests,
            "failures": entry.num_failures,
            "p50": entry.get_response_time_percentile(0.5) or 0,
            "p99": entry.get_response_time_percentile(0.99) or 0,
        }
        for entry in entries
    ]
    errors = [str(error.error) for error in environment.stats.errors.values()]
    Path(os.environ["LOAD_FIGURES"]).write_bytes(
        msgspec.json.encode({"figures": figures, "errors": errors})
    )


events.quitting.add_listener(write_figures)
