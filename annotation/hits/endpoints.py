"""The endpoints for the page's script: open, draft, finish, consent.

The ticket is the permission. There are no cookies, so requests cannot be forged across sites, and
the marketplace's sandboxed frame has no origin: any origin may read the replies.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from annotation.actions.work.answers import draft_save, sitting_finish
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
    consent_give,
    sitting_open,
)
from annotation.hits import wire
from annotation.hits.presentation import (
    answer_read,
    feedback_shown,
    finished_reply,
    sitting_reply,
)
from annotation.hits.tokens import (
    BadTicketError,
    TicketExpiredError,
    ticket_read,
    ticket_seconds,
    ticket_write,
)
from annotation.pipeline.work.answers import Answer
from annotation.selectors.work.sittings import Claim, campaign_find

MAX_BYTES = 256 * 1024
_SECONDS_BETWEEN_PREFLIGHTS = "600"
_STATUS = {
    Trouble.BAD_REQUEST: 400,
    Trouble.EXPIRED: 410,
    Trouble.CONSENT: 403,
    Trouble.NOT_FOUND: 404,
    Trouble.FINISHED: 409,
    Trouble.ANSWERED: 409,
    Trouble.INCOMPLETE: 422,
    Trouble.NOT_QUALIFIED: 403,
    # The page retries automatically.
    Trouble.NOT_YET: 503,
}

T = TypeVar("T")
Endpoint = Callable[[Claim, bytes], msgspec.Struct]


class _RefusedError(Exception):
    def __init__(self, status: int, problem: wire.Problem) -> None:
        super().__init__(problem.message)
        self.status = status
        self.problem = problem


def _endpoint(handle: Endpoint) -> Callable[[HttpRequest], HttpResponse]:
    @csrf_exempt
    @wraps(handle)
    def view(request: HttpRequest) -> HttpResponse:
        if request.method == "OPTIONS":
            return _with_headers(HttpResponse(status=204))
        try:
            if request.method != "POST":
                raise _refused(405, "bad_request", "Use POST.")
            return _reply(200, handle(_claim(request), _body(request)))
        except _RefusedError as error:
            return _reply(error.status, error.problem)
        except SittingRefusedError as error:
            problem = wire.Problem(error=error.trouble.value, message=str(error))
            return _reply(_STATUS[error.trouble], problem)

    return view


@_endpoint
def open_(claim: Claim, body: bytes) -> wire.Sitting:
    """Give the worker their sitting: a new one, or the same again with its answers."""
    return sitting_reply(sitting_open(claim=claim), claim.stage)


@_endpoint
def draft(claim: Claim, body: bytes) -> wire.Saved:
    """Save one answer as a draft."""
    sent = _decode(body, wire.Draft)
    answer = None if sent.answer is None else _answer(sent.number, sent.answer)
    kept = draft_save(
        claim=claim, number=sent.number, answer=answer, sitting_id=sent.sitting, at=sent.at
    )
    return wire.Saved(
        feedback=feedback_shown(kept.graded) if kept.graded else None,
        seconds_left=kept.seconds_left,
    )


@_endpoint
def finish(claim: Claim, body: bytes) -> wire.Finished:
    """Take all answers for good."""
    sent = _decode(body, wire.Finish)
    answers: dict[int, Answer] = {}
    for one in sent.answers:
        if one.number in answers:
            raise _refused(400, "bad_request", f"Question {one.number} has two answers.")
        answers[one.number] = _answer(one.number, one)
    finished = sitting_finish(claim=claim, answers=answers, sitting_id=sent.sitting)
    return finished_reply(finished)


@_endpoint
def consent(claim: Claim, body: bytes) -> wire.Saved:
    """Record that the worker agrees to this version of the consent text."""
    agreed = consent_give(claim=claim, version=_decode(body, wire.Agreement).version)
    campaign = None if agreed == claim else campaign_find(claim.campaign)
    return wire.Saved(token=ticket_write(agreed, ticket_seconds(campaign)) if campaign else "")


def _claim(request: HttpRequest) -> Claim:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise _refused(401, "bad_token", "This page sent no token. Reload it.")
    try:
        return ticket_read(token.strip())
    except BadTicketError:
        raise _refused(401, "bad_token", "This page is not valid here. Reload it.") from None
    except TicketExpiredError:
        raise _refused(401, "expired", "This page has been open for too long. Reload it.") from None


def _body(request: HttpRequest) -> bytes:
    body = request.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise _refused(413, "bad_request", f"The request is larger than {MAX_BYTES // 1024} KB.")
    return body


def _decode(body: bytes, type_: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refused(400, "bad_request", f"The request cannot be read: {error}.") from None


def _answer(number: int, answer: wire.Answer) -> Answer:
    if "\0" in answer.comment:
        raise _refused(
            400, "bad_request", f"Question {number}: the comment contains an invalid character."
        )
    return answer_read(answer)


def _refused(status: int, error: str, message: str) -> _RefusedError:
    problem = msgspec.convert({"error": error, "message": message}, wire.Problem)
    return _RefusedError(status, problem)


def _reply(status: int, body: msgspec.Struct) -> HttpResponse:
    reply = HttpResponse(msgspec.json.encode(body), status=status, content_type="application/json")
    if status == 405:
        reply.headers["Allow"] = "POST, OPTIONS"
    return _with_headers(reply)


def _with_headers(reply: HttpResponse) -> HttpResponse:
    reply.headers["Access-Control-Allow-Origin"] = "*"
    reply.headers["Access-Control-Allow-Methods"] = "POST, OPTIONS"
    reply.headers["Access-Control-Allow-Headers"] = "authorization, content-type"
    reply.headers["Access-Control-Max-Age"] = _SECONDS_BETWEEN_PREFLIGHTS
    reply.headers["Cache-Control"] = "no-store"
    return reply
