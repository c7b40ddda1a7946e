"""The claim of acceptance: the marketplace writes it, and holders of the access key read it."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.work.acceptance import Acceptance, BadAcceptanceError, acceptance_read
from marketplace.actions.assignments import assignment_return
from marketplace.actions.requesters import access_key_issue, access_key_revoke
from marketplace.models import AccessKey, Assignment
from marketplace.rules.acceptance import Accepted, acceptance_claim
from tests.marketplace.people import make_requester
from tests.marketplace.site import accepted, new_hit, new_worker, signed_in

KEY_ID, SECRET = "AKIAEXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
NOON = datetime(2026, 11, 18, 12, 0, 0, 250_000, tzinfo=UTC)
EXAMPLE = Accepted(
    assignment_id="3ASSIGNMENT",
    hit_id="3HIT",
    worker_id="A1WORKER",
    accepted_at=NOON,
    deadline=NOON + timedelta(hours=2),
)
# Programs of others rely on this format: it must stay what it is.
CLAIM = (
    "1.1795003200250.1795010400250."
    "AKIAEXAMPLE-9b94fcc514bafa14eb8a81c3e8234ff88f229dee6b74dcb7847f08dfaa24fc2c"
)
DOCUMENT = Path(__file__).parents[2] / "docs" / "marketplace-api.md"


def read(text: str, **changes: str) -> Acceptance:
    fields = {
        "assignment_id": "3ASSIGNMENT",
        "hit_id": "3HIT",
        "worker": "A1WORKER",
        "key_id": KEY_ID,
        "secret": SECRET,
    } | changes
    return acceptance_read(text, **fields)


# The format, on both sides


def test_the_marketplace_writes_this_claim() -> None:
    assert acceptance_claim(EXAMPLE, {KEY_ID: SECRET}) == CLAIM


def test_annotation_reads_this_claim() -> None:
    found = read(CLAIM)
    assert found == Acceptance(accepted=1795003200250, deadline=1795010400250)
    assert not found.is_over(found.deadline)
    assert not found.is_over(found.deadline + 1_200_000), "each clock may be ten minutes off"
    assert found.is_over(found.deadline + 1_200_001)


def test_the_documented_program_reads_this_claim() -> None:
    (program,) = re.findall(r"```python\n(import hashlib, hmac.*?)```", DOCUMENT.read_text(), re.S)
    names: dict[str, Any] = {}
    exec(program, names)
    query = {
        "assignmentId": "3ASSIGNMENT",
        "hitId": "3HIT",
        "workerId": "A1WORKER",
        "acceptance": CLAIM,
    }
    now = NOON.timestamp()

    def says(moment: float = now, secret: str = SECRET, **changes: str) -> bool:
        found: bool = names["accepted"](query | changes, KEY_ID, secret, moment)
        return found

    assert says()
    assert not says(moment=now + 7201)
    assert not says(secret="another")
    assert not says(workerId="A2")
    assert not says(acceptance="2" + CLAIM[1:])
    assert not names["accepted"]({**query, "acceptance": "..."}, KEY_ID, SECRET, now)


@pytest.mark.parametrize(
    "changes",
    [
        {"assignment_id": "3ASSIGNMENU"},
        {"hit_id": ""},
        {"worker": "A1WORKERS"},
        {"key_id": "AKIAOTHER"},
        {"key_id": ""},
        {"secret": ""},
        {"secret": SECRET.lower()},
    ],
)
def test_a_claim_is_good_for_nothing_else(changes: dict[str, str]) -> None:
    with pytest.raises(BadAcceptanceError):
        read(CLAIM, **changes)


@pytest.mark.parametrize(
    "text",
    [
        *("", "1", "1..", CLAIM[1:], f" {CLAIM}", f"{CLAIM}\n", f"{CLAIM}.", CLAIM.upper()),
        CLAIM.replace("1795010400250", "1795010400251"),
        CLAIM.replace("1795003200250", "1795003200249"),
        CLAIM.replace("1795003200250", "٣"),
        CLAIM.replace("1.", "2.", 1),
        CLAIM[:-1] + "d",
        CLAIM + ".B-" * 10_000,
    ],
)
def test_a_claim_that_was_changed_is_none(text: str) -> None:
    with pytest.raises(BadAcceptanceError):
        read(text)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for candidate in (text, f"1.1.1.{text}", f"1.1.1.A-{text}"):
        with pytest.raises(BadAcceptanceError):
            read(candidate)


@given(st.integers(min_value=0, max_value=4_000_000_000), st.integers(min_value=1, max_value=5))
def test_what_is_written_is_read_by_each_of_the_requester_s_keys(start: int, count: int) -> None:
    secrets = {f"AK{number}": f"secret {number}" for number in range(count)}
    at = datetime.fromtimestamp(start, UTC)
    claim = Accepted("3ASSIGNMENT", "3HIT", "A1WORKER", at, at + timedelta(minutes=5))
    text = acceptance_claim(claim, secrets)
    for key_id, secret in secrets.items():
        found = read(text, key_id=key_id, secret=secret)
        assert found == Acceptance(accepted=start * 1000, deadline=(start + 300) * 1000)


# In the frame's address


def frame_query(client: Client, path: str) -> dict[str, str]:
    html = client.get(path).content.decode()
    (source,) = re.findall(r'<iframe[^>]* src="([^"]*)"', html, re.S)
    query = parse_qs(urlsplit(unescape(source)).query)
    return {name: values[0] for name, values in query.items()}


def work_query(client: Client, made: Assignment) -> dict[str, str]:
    return frame_query(client, f"/marketplace/work/{made.assignment_id}/")


def checked(query: dict[str, str], key: AccessKey) -> Acceptance:
    return acceptance_read(
        query.get("acceptance", ""),
        assignment_id=query["assignmentId"],
        hit_id=query["hitId"],
        worker=query["workerId"],
        key_id=key.key_id,
        secret=key.secret,
    )


@pytest.mark.django_db
def test_the_frame_at_work_proves_the_acceptance() -> None:
    requester = make_requester()
    key = access_key_issue(requester=requester)
    client = signed_in(new_worker())
    made = accepted(client, new_hit(requester))
    found = checked(work_query(client, made), key)
    assert found.accepted == round(made.accepted_at.timestamp() * 1000)
    assert found.deadline == round(made.deadline.timestamp() * 1000)


@pytest.mark.django_db
def test_a_preview_proves_nothing() -> None:
    requester = make_requester()
    access_key_issue(requester=requester)
    hit = new_hit(requester)
    client = signed_in(new_worker())
    query = frame_query(client, f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
    assert set(query) - {"stage"} == {"assignmentId", "hitId"}


@pytest.mark.django_db
def test_keys_change_without_a_gap() -> None:
    requester = make_requester()
    old, other = access_key_issue(requester=requester), access_key_issue(requester=make_requester())
    client = signed_in(new_worker())
    made = accepted(client, new_hit(requester))
    new = access_key_issue(requester=requester)
    query = work_query(client, made)
    assert checked(query, old) == checked(query, new)
    with pytest.raises(BadAcceptanceError):
        checked(query, other)
    access_key_revoke(requester=requester, key_id=old.key_id)
    query = work_query(client, made)
    assert checked(query, new)
    with pytest.raises(BadAcceptanceError):
        checked(query, old)


@pytest.mark.django_db
def test_accepting_again_is_another_acceptance() -> None:
    requester = make_requester()
    key = access_key_issue(requester=requester)
    hit = new_hit(requester)
    client = signed_in(new_worker())
    made = accepted(client, hit)
    before = checked(work_query(client, made), key)
    assignment_return(assignment=made)
    again = accepted(client, hit)
    assert again.assignment_id == made.assignment_id, "the place keeps its id"
    assert checked(work_query(client, again), key).accepted > before.accepted


@pytest.mark.django_db
def test_many_keys_cost_one_statement_and_leave_the_address_short() -> None:
    requester = make_requester()
    client = signed_in(new_worker())
    made = accepted(client, new_hit(requester))
    counts = []
    for _ in range(12):
        access_key_issue(requester=requester)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/marketplace/work/{made.assignment_id}/")
        counts.append(len(queries))
    assert len(set(counts)) == 1
    assert len(work_query(client, made)["acceptance"]) < 1000
