"""The appeal page for workers who lost trust: plain, protected, one appeal at a time."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from annotation import models
from annotation.actions.crowd.workers import worker_ensure, worker_erase
from annotation.actions.trust.standing import (
    appeal_decide,
    appeal_make,
    trust_note,
    trust_reinstate,
    trust_revoke,
)
from annotation.hits.appeals import LONGEST
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import FinishedTest
from annotation.selectors.trust.appeals import appeal_url
from tests.web.campaigns import HOSTILE, small_campaign

pytestmark = pytest.mark.django_db

TASKS = "https://tasks.example.org"


@pytest.fixture
def standing(tmp_path: Path, settings: Settings) -> models.WorkerStanding:
    """A worker who has lost trust at Links."""
    settings.CHAINBOX_TASK_URL = TASKS
    campaign = small_campaign(tmp_path, ["first"])
    worker = worker_ensure(name="A1")
    who: dict[str, Any] = {"campaign": campaign, "worker": worker, "stage": Stage.LINKS}
    trust_note(**who, event=FinishedTest(right=10, asked=10), key="test/1")
    trust_revoke(**who, reason="all answers were the same", by="jo")
    return models.WorkerStanding.objects.get()


def path_of(standing: models.WorkerStanding) -> str:
    url = appeal_url(standing)
    assert url.startswith(f"{TASKS}/hits/appeal/")
    return url.removeprefix(TASKS)


def words(response: Any) -> str:
    """Return the page's text without its tags."""
    text = re.sub(r"<[^>]*>", " ", response.content.decode())
    return " ".join(html.unescape(text).split())


def test_the_page_says_why_and_takes_an_appeal(
    client: Client, standing: models.WorkerStanding
) -> None:
    path = path_of(standing)
    page = client.get(path)
    assert page.status_code == 200
    assert "all answers were the same" in words(page)
    assert "Why should we change our decision?" in words(page)
    # The link that workers are told of elsewhere is this very page.
    assert "we have sent you a message with a link" not in words(page)
    sent = client.post(path, {"words": "  They are all of one photo.\r\nReally. "})
    assert (sent.status_code, sent.headers["Location"]) == (302, path)
    appeal = models.Appeal.objects.get()
    assert (appeal.standing, appeal.words) == (standing, "They are all of one photo.\nReally.")
    again = client.get(path)
    assert "We have received your appeal" in words(again)
    assert "They are all of one photo." in words(again)
    assert b"<textarea" not in again.content


def test_one_open_appeal_at_a_time(client: Client, standing: models.WorkerStanding) -> None:
    path = path_of(standing)
    client.post(path, {"words": "first"})
    second = client.post(path, {"words": "second"})
    assert second.status_code == 409
    assert "We have received your appeal" in words(second)
    assert models.Appeal.objects.get().words == "first"


def test_after_an_answer_there_may_be_another(
    client: Client, standing: models.WorkerStanding
) -> None:
    path = path_of(standing)
    appeal = appeal_make(standing=standing, words="first")
    appeal_decide(appeal=appeal, reinstate=False, reply=f"No. {HOSTILE}", by="jo")
    page = client.get(path)
    assert "did not reopen the task for you. We wrote: No." in words(page)
    assert HOSTILE not in page.content.decode()
    assert client.post(path, {"words": "but"}).status_code == 302
    assert models.Appeal.objects.filter(decided_at=None).count() == 1


def test_who_may_work_has_nothing_to_appeal_against(
    client: Client, standing: models.WorkerStanding
) -> None:
    path = path_of(standing)
    trust_reinstate(campaign=standing.campaign, worker=standing.worker, stage=Stage.LINKS, by="jo")
    page = client.get(path)
    assert page.status_code == 200
    assert "nothing to appeal" in words(page)
    assert b"<textarea" not in page.content
    assert client.post(path, {"words": "please"}).status_code == 409
    assert not models.Appeal.objects.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "Please explain why"),
        ("  \n ", "Please explain why"),
        ("x" * (LONGEST + 1), f"{LONGEST + 1} characters. Please shorten it to {LONGEST}"),
    ],
)
def test_what_cannot_be_taken_is_said_so(
    client: Client, standing: models.WorkerStanding, given: str, said: str
) -> None:
    page = client.post(path_of(standing), {"words": given})
    assert page.status_code == 400
    assert said in words(page)
    assert not models.Appeal.objects.exists()


def test_the_longest_appeal_fits_and_is_text(
    client: Client, standing: models.WorkerStanding
) -> None:
    given = (HOSTILE + "\n" + "🐈" * LONGEST)[:LONGEST]
    # Browsers send line ends so.
    sent = {"words": given.replace("\n", "\r\n")}
    assert client.post(path_of(standing), sent).status_code == 302
    assert models.Appeal.objects.get().words == given
    assert HOSTILE not in client.get(path_of(standing)).content.decode()


def test_erased_workers_links_stop_working(client: Client, standing: models.WorkerStanding) -> None:
    path = path_of(standing)
    worker_erase(worker=standing.worker)
    for response in (client.get(path), client.post(path, {"words": "it is me"})):
        assert response.status_code == 404
        assert "link does not work" in words(response)
        assert "all answers were the same" not in words(response)
    assert not models.Appeal.objects.exists()


def test_links_that_were_not_made_here(client: Client, standing: models.WorkerStanding) -> None:
    token = path_of(standing).split("/")[-2]
    for bad in (
        token[:-1],
        token + "x",
        "1",
        str(standing.pk),
        signing.dumps(standing.pk),
        signing.dumps(standing.pk, salt="chainbox.hits.ticket"),
    ):
        assert client.get(f"/hits/appeal/{bad}/").status_code == 404


def test_the_form_is_protected_and_not_to_be_framed(standing: models.WorkerStanding) -> None:
    strict = Client(enforce_csrf_checks=True)
    path = path_of(standing)
    assert strict.post(path, {"words": "forged"}).status_code == 403
    page = strict.get(path)
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-store"
    assert b"<script" not in page.content
    found = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page.content)
    assert found is not None
    sent = {"words": "mine", "csrfmiddlewaretoken": found[1].decode()}
    assert strict.post(path, sent).status_code == 302
    assert strict.put(path).status_code in (403, 405)


def test_statements_are_few(client: Client, standing: models.WorkerStanding) -> None:
    for number in range(5):
        appeal = appeal_make(standing=standing, words=f"{number}")
        appeal_decide(appeal=appeal, reinstate=False, reply="no", by="jo")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        client.get(path_of(standing))
    assert len(asked) <= 3
