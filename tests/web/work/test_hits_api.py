"""The endpoints for the page's script: strict input, plain messages, permission by ticket only."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import msgspec
import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import models
from annotation.actions.work.guides import guide_save
from annotation.hits import wire
from annotation.hits.endpoints import MAX_BYTES
from annotation.hits.tokens import ticket_write
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.sittings import Claim
from common.clock import CLOCK_TOLERANCE_SECONDS, database_now
from tests.offers import trusted
from tests.web.campaigns import HOSTILE, answer, small_campaign
from tests.web.work.task_pages import LINKS_TEST, agree, claim_of

pytestmark = pytest.mark.django_db

YES = {"answer": "yes"}
NO = {"answer": "no"}


class Reply(NamedTuple):
    status: int
    body: dict[str, Any]
    headers: Any


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second", "third"])


@pytest.fixture
def claim(campaign: models.Campaign) -> Claim:
    made = claim_of(campaign)
    agree(made)
    return made


def call(name: str, claim: Claim | str, body: Any = None) -> Reply:
    """Call an endpoint as a page does: from a frame without cookies, by POST with a ticket."""
    token = claim if isinstance(claim, str) else ticket_write(claim, 60)
    response = Client(enforce_csrf_checks=True).post(
        f"/hits/api/{name}",
        data=body if isinstance(body, bytes) else json.dumps({} if body is None else body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}", "Origin": "null"},
    )
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"
    assert not response.cookies
    reply = Reply(response.status_code, json.loads(response.content), response.headers)
    if reply.status >= 400:
        assert msgspec.convert(reply.body, wire.Problem).message
    return reply


def finish_body(*answers: dict[str, Any]) -> dict[str, Any]:
    return {"answers": [one | {"number": n} for n, one in enumerate(answers, start=1)]}


# Open


def test_open_gives_questions_as_they_are_shown(claim: Claim) -> None:
    reply = call("open", claim)
    assert reply.status == 200
    sitting = msgspec.convert(reply.body, wire.Sitting)
    assert (len(sitting.items), sitting.ways, sitting.finished, sitting.empty) == (3, (), False, "")
    assert (sitting.fields, sitting.score) == (None, None)
    assert 3590 <= sitting.seconds_left <= 3600
    # Drafts are put in order by it, over reloads and on other machines.
    assert abs(sitting.clock - database_now().timestamp() * 1000) < 30_000
    item = sitting.items[0]
    assert item.phrase == "The guy"
    assert [(c.number, c.marks) for c in item.captions] == [
        (2, (wire.Mark(mention=3, start=0, end=2, colour=1),)),
        (1, (wire.Mark(mention=1, start=0, end=2, colour=2),)),
    ]
    assert HOSTILE in item.captions[0].tokens
    assert (item.photo.width, item.photo.height) == (60, 40)
    photo = Client().get(item.photo.url)
    assert photo.headers["Content-Type"] == "image/png"
    b"".join(photo.streaming_content)  # type: ignore[attr-defined]  # a FileResponse


def test_open_again_brings_the_answers_back(claim: Claim) -> None:
    first = call("open", claim)
    draft = {"answer": "no", "milliseconds": 700, "comment": "dim 🌙", "cutWrongly": [3]}
    assert call("draft", claim, {"number": 2, "answer": draft}).body == {
        "feedback": None,
        "secondsLeft": None,
        "token": "",
    }
    again = call("open", claim)
    assert [item["number"] for item in again.body["items"]] == [1, 2, 3]
    assert again.body["items"][1]["answer"] == {
        "answer": "no",
        "rect": None,
        "way": "",
        "milliseconds": 700,
        "reasons": [],
        "cutWrongly": [3],
        "unrelated": [],
        "comment": "dim 🌙",
    }
    assert again.body["items"][0] == first.body["items"][0]


def test_open_with_nothing_to_give(claim: Claim, campaign: models.Campaign) -> None:
    other = claim_of(campaign, worker="A2")
    agree(other)
    call("open", other)
    reply = call("open", claim)
    assert (reply.status, reply.body["items"], reply.body["empty"]) == (200, [], "with_others")
    reply = call("open", claim_of(campaign, Stage.QUALITY, assignment_id="Q"))
    assert reply.body["empty"] == "nothing_left"


def test_consent_comes_first(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    refused = call("open", claim)
    assert (refused.status, refused.body["error"]) == (403, "consent")
    assert call("consent", claim, {"version": 7}).status == 403
    assert call("consent", claim, {"version": 1}).status == 200
    assert call("consent", claim, {"version": 1}).status == 200
    untested = call("open", claim)
    assert (untested.status, untested.body["error"]) == (403, "not_qualified")
    trusted(campaign, claim.worker, claim.stage)
    assert call("open", claim).status == 200
    assert models.Consent.objects.get().worker.name == "A1"


# Tickets


def test_a_ticket_is_for_one_worker_and_one_assignment(
    claim: Claim, campaign: models.Campaign
) -> None:
    call("open", claim)
    others = [
        claim_of(campaign, worker="A2", assignment_id=claim.assignment_id),
        claim_of(campaign, worker=claim.worker, assignment_id="another"),
    ]
    for other in others:
        assert call("draft", other, {"number": 1, "answer": YES}).status == 404
        assert call("finish", other, finish_body(YES, YES, YES)).status == 404
    assert not models.SittingQuestion.objects.exclude(answer="").exists()


@pytest.mark.parametrize("name", ["open", "draft", "finish", "consent"])
def test_forged_and_expired_tickets(claim: Claim, name: str) -> None:
    good = ticket_write(claim, 60)
    payload, stamp, signature = good.split(":")
    other_payload = ticket_write(msgspec.structs.replace(claim, worker="A2"), 60).split(":")[0]
    for token in (
        "",
        "x",
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        f"{other_payload}:{stamp}:{signature}",
        payload,
    ):
        reply = call(name, token)
        assert (reply.status, reply.body["error"]) == (401, "bad_token")
    with mock.patch(
        "time.time", mock.Mock(return_value=time.time() + 62 + CLOCK_TOLERANCE_SECONDS)
    ):
        reply = call(name, good)
    assert (reply.status, reply.body["error"]) == (401, "expired")
    response = Client().post(f"/hits/api/{name}", data="{}", content_type="application/json")
    assert response.status_code == 401
    response = Client().post(
        f"/hits/api/{name}",
        data="{}",
        content_type="application/json",
        headers={"Authorization": f"Basic {good}"},
    )
    assert response.status_code == 401


# Drafts and finishing


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "cannot be read"),
        (b"{", "cannot be read"),
        (b"\xff", "cannot be read"),
        ({}, "number"),
        ({"number": 1}, "answer"),
        ({"number": "1", "answer": None}, "Expected `int`"),
        ({"number": -1, "answer": None}, ">= 0"),
        ({"number": 1, "answer": YES, "extra": 1}, "extra"),
        ({"number": 1, "answer": YES | {"worker": "A2"}}, "worker"),
        ({"number": 1, "answer": {"answer": "maybe"}}, "Question 1: 'maybe' is not an answer here"),
        ({"number": 1, "answer": YES | {"rect": [1, 1, 5, 5]}}, "takes no box"),
        ({"number": 1, "answer": YES | {"rect": [1, 1, 5]}}, "cannot be read"),
        ({"number": 1, "answer": YES | {"rect": [1, 1, 5, 5.5]}}, "cannot be read"),
        ({"number": 1, "answer": YES | {"way": "drag"}}, "without a box"),
        ({"number": 1, "answer": YES | {"way": "freehand"}}, "cannot be read"),
        ({"number": 1, "answer": YES | {"reasons": ["not_tight"]}}, "only a bad box"),
        ({"number": 1, "answer": YES | {"reasons": ["ugly"]}}, "cannot be read"),
        ({"number": 1, "answer": YES | {"cutWrongly": [2]}}, "phrase 2 is not marked"),
        ({"number": 1, "answer": YES | {"unrelated": [3]}}, "caption 3 is not shown"),
        ({"number": 1, "answer": YES | {"comment": "a\0b"}}, "invalid character"),
        (b'{"number": 1, "answer": {"answer": "yes", "comment": "\\ud800"}}', "cannot be read"),
        ({"number": 1, "answer": YES | {"comment": "a" * 2001}}, "cannot be read"),
        ({"number": 1, "answer": YES | {"milliseconds": -1}}, "cannot be read"),
        ({"number": 1, "answer": YES | {"milliseconds": 10**40}}, "cannot be read"),
    ],
)
def test_a_draft_that_makes_no_sense(claim: Claim, body: Any, words: str) -> None:
    call("open", claim)
    reply = call("draft", claim, body)
    assert (reply.status, reply.body["error"]) == (400, "bad_request")
    assert words in reply.body["message"]
    assert not models.SittingQuestion.objects.exclude(answer="").exists()


def test_a_body_that_is_too_large(claim: Claim) -> None:
    reply = call("draft", claim, b" " * (MAX_BYTES + 1))
    assert (reply.status, reply.body["error"]) == (413, "bad_request")
    assert "256 KB" in reply.body["message"]


def test_finishing(claim: Claim) -> None:
    opened = call("open", claim).body
    incomplete = call("finish", claim, finish_body(YES, NO))
    assert (incomplete.status, incomplete.body["error"]) == (422, "incomplete")
    assert "3" in incomplete.body["message"]
    twice = call("finish", claim, {"answers": [YES | {"number": 1}, NO | {"number": 1}]})
    assert "two answers" in twice.body["message"]
    last = NO | {"comment": "secret", "milliseconds": 9}
    done = call("finish", claim, finish_body(YES, NO, last))
    assert done.status == 200
    assert call("finish", claim, finish_body(YES, NO, last)).body == done.body
    other = call("finish", claim, finish_body(NO, NO, last))
    assert (other.status, other.body["error"]) == (409, "finished")
    draft = call("draft", claim, {"number": 1, "answer": NO})
    assert (draft.status, draft.body["error"]) == (409, "finished")
    sitting = models.Sitting.objects.get()
    fields = done.body["fields"]
    assert (fields["sitting"], fields["digest"]) == (str(sitting.pk), sitting.digest)
    assert [one["answer"] for one in json.loads(fields["answers"])] == ["yes", "no", "no"]
    assert json.loads(fields["answers"])[2] == {
        "number": 3,
        "answer": "no",
        "milliseconds": 9,
    }
    again = call("open", claim).body
    assert (again["finished"], again["fields"]) == (True, fields)
    assert [item["photo"]["width"] for item in again["items"]] == [
        item["photo"]["width"] for item in opened["items"]
    ]


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["open", "draft", "finish"]),
            st.integers(1, 3),
            st.sampled_from(["yes", "no", None]),
        ),
        max_size=12,
    )
)
def test_whatever_the_order_what_comes_back_is_what_was_saved_last(
    campaign: models.Campaign, steps: list[tuple[str, int, str | None]]
) -> None:
    models.SittingQuestion.objects.all().delete()
    models.Sitting.objects.all().delete()
    claim = claim_of(campaign)
    agree(claim)
    call("open", claim)
    saved: dict[int, str | None] = {1: None, 2: None, 3: None}
    finished: dict[int, str | None] | None = None
    for step, number, said in steps:
        if step == "draft":
            body = {"number": number, "answer": {"answer": said} if said else None}
            reply = call("draft", claim, body)
            assert reply.status == (409 if finished else 200)
            if not finished:
                saved[number] = said
        elif step == "finish":
            answers = {n: a or ("yes" if said == "yes" else None) for n, a in saved.items()}
            given = [{"number": n, "answer": a} for n, a in answers.items() if a]
            reply = call("finish", claim, {"answers": given})
            if finished is not None:
                assert reply.status == (200 if answers == finished else 409)
            elif len(given) < 3:
                assert reply.status == 422
            else:
                assert reply.status == 200
                saved = finished = answers
        else:
            items = call("open", claim).body["items"]
            answered = {i["number"]: i["answer"] and i["answer"]["answer"] for i in items}
            assert answered == saved


# Drawing, and tests


def test_drawing_records_the_way_and_the_time(campaign: models.Campaign) -> None:
    for image in models.Image.objects.select_related("stored_state"):
        answer(image, limit=2)
    claim = claim_of(campaign, Stage.DRAWING)
    agree(claim)
    opened = call("open", claim).body
    assert opened["ways"] == ["extreme", "drag"]
    box = {"answer": "box", "rect": [1, 1, 60, 40], "way": "extreme", "milliseconds": 5000}
    for bad, words in [
        ({"answer": "box"}, "box is missing"),
        (box | {"way": ""}, "the way of drawing is missing"),
        (box | {"rect": [0, 1, 60, 40]}, "outside the 60×40"),
        (box | {"rect": [9, 1, 8, 40]}, "ends before it starts"),
        ({"answer": "none", "rect": [1, 1, 2, 2]}, "takes no box"),
    ]:
        assert words in call("draft", claim, {"number": 1, "answer": bad}).body["message"]
    assert call("draft", claim, {"number": 1, "answer": box}).status == 200
    assert call("open", claim).body["items"][0]["answer"]["rect"] == [1, 1, 60, 40]


def test_a_test_over_the_wire(campaign: models.Campaign) -> None:
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST)
    claim = claim_of(campaign, kind=SittingKind.TEST)
    agree(claim)
    assert [item["feedback"] for item in call("open", claim).body["items"]] == [None, None]
    feedback = call("draft", claim, {"number": 2, "answer": YES}).body["feedback"]
    assert feedback == {
        "right": False,
        "expected": "no",
        "expectedRects": [],
        "why": "A horse is no guy.",
    }
    changed = call("draft", claim, {"number": 2, "answer": NO})
    assert (changed.status, changed.body["error"]) == (409, "answered")
    assert call("open", claim).body["items"][1]["feedback"] == feedback
    done = call("finish", claim, finish_body(YES, YES))
    assert done.body["score"] == {"right": 1, "asked": 2, "needed": 0.8, "passed": False}
    again = call("open", claim).body
    assert (again["finished"], again["score"]) == (True, done.body["score"])


# Across origins


@pytest.mark.parametrize("name", ["open", "draft", "finish", "consent"])
def test_a_frame_without_an_origin_may_ask_and_call(name: str) -> None:
    response = Client().options(
        f"/hits/api/{name}",
        headers={
            "Origin": "null",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type",
        },
    )
    assert response.status_code == 204
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Headers"] == "authorization, content-type"
    refused = Client().get(f"/hits/api/{name}")
    assert refused.status_code == 405
    assert refused.headers["Allow"] == "POST, OPTIONS"
