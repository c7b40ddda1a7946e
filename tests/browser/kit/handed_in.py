"""Where a sitting's answers end up: in our database, at the marketplace, and as facts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import msgspec
from msgspec.structs import astuple, replace
from playwright.sync_api import expect

from annotation import models
from annotation.actions.work.confirmations import sitting_confirm
from annotation.models import SittingStatus
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import Judgment, decode_body
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.work.answers import Answer, decode_answer
from marketplace.rules.lifecycle import AssignmentStatus
from tests.browser.kit.desk import Desk

XML = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd}"
_TOLD = ("rect", "way", "milliseconds", "reasons", "cut_wrongly", "unrelated")


def expect_submitted(desk: Desk) -> None:
    """The marketplace's page has noticed by itself that the HIT is handed in."""
    expect(desk.page.locator("iframe")).to_have_count(0)
    expect(desk.page.get_by_role("main")).to_contain_text("submitted", ignore_case=True)


def check_answers(desk: Desk, expected: Sequence[Answer], off: int = 0) -> None:
    """The sitting, the marketplace's form and, once confirmed, the facts have these answers.

    A box may be `off` by so many pixels from what was aimed at; then it is the same everywhere.
    """
    sitting = desk.sitting
    assert sitting.status == SittingStatus.FINISHED
    given = answers_of(sitting)
    assert [replace(one, milliseconds=0, rect=None) for one in given] == [
        replace(one, rect=None) for one in expected
    ]
    for one, other in zip(given, expected, strict=True):
        assert near(one.rect, other.rect, off), (one.rect, other.rect)
        assert one.milliseconds > 0
    check_form(desk, given)
    check_facts(sitting, given)


def answers_of(sitting: models.Sitting) -> list[Answer]:
    """Return the answers that the sitting has so far, comments included."""
    rows = sitting.questions.exclude(answer="").order_by("number")
    return [replace(decode_answer(row.answer), comment=row.comment) for row in rows]


def near(one: Rect | None, other: Rect | None, off: int) -> bool:
    if one is None or other is None:
        return one is other
    return all(abs(a - b) <= off for a, b in zip(astuple(one), astuple(other), strict=True))


def check_form(desk: Desk, given: Sequence[Answer]) -> None:
    """The marketplace has the same answers, without the comments."""
    sitting, assignment = desk.sitting, desk.assignment
    assert assignment.status == AssignmentStatus.SUBMITTED
    assert sitting.assignment_id == assignment.assignment_id
    fields = form_fields(assignment.answer)
    assert fields.keys() == {"sitting", "digest", "answers"}
    assert (fields["sitting"], fields["digest"]) == (str(sitting.pk), sitting.digest)
    rows = sitting.questions.order_by("number")
    told = [_told(row, one) for row, one in zip(rows, given, strict=True)]
    assert json.loads(fields["answers"]) == json.loads(msgspec.json.encode(told))


def form_fields(xml: str) -> Mapping[str, str]:
    """Read the fields of a form that the marketplace keeps."""
    return {
        _text(answer, "QuestionIdentifier"): _text(answer, "FreeText")
        for answer in ElementTree.fromstring(xml).iter(f"{XML}Answer")
    }


def _text(answer: ElementTree.Element, name: str) -> str:
    return answer.findtext(f"{XML}{name}") or ""


def _told(row: models.SittingQuestion, answer: Answer) -> dict[str, Any]:
    """Return what the form says of an answer, by the names of its parts."""
    told: dict[str, Any] = {"number": row.number, "answer": answer.answer}
    told |= {name: getattr(answer, name) for name in _TOLD if getattr(answer, name)}
    return told


def check_facts(sitting: models.Sitting, given: Sequence[Answer]) -> None:
    """Confirming makes one judgment of each answer."""
    confirmed = sitting_confirm(sitting=sitting)
    assert (confirmed.recorded, confirmed.refused) == (len(given), ())
    for row, one in zip(sitting.questions.order_by("number"), given, strict=True):
        fact = models.Fact.objects.get(
            image=row.image, question=row.key, worker=sitting.worker, kind="judgment"
        )
        assert decode_body(fact.body) == Judgment(
            worker=sitting.known_worker.pk,
            question=question_from_key(row.key),
            answer=one.answer,
            rect=one.rect,
            cut_wrongly=one.cut_wrongly,
            unrelated=one.unrelated,
            milliseconds=one.milliseconds,
            way=one.way,
            reasons=one.reasons,
        )
