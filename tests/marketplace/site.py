"""Shared by the tests of the worker site: signed-in workers, questions, pages as text."""

import re
from html import unescape
from itertools import count
from typing import Any

from django.test import Client

from marketplace.actions.hits import hit_create
from marketplace.actions.workers import worker_sign_up
from marketplace.models import HIT, Assignment, Requester, Worker
from marketplace.rules.lifecycle import AssignmentStatus
from tests.marketplace.people import EXTERNAL, make_hit_type

PASSWORD = "correct horse 77"
HOSTILE = "<script>alert('&')</script>"
SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
SUBMIT = "/marketplace/mturk/externalSubmit"
_number = count(1)

HTML = f"""<HTMLQuestion xmlns="{SCHEMAS}2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[
<!DOCTYPE html><html><head>
<script src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script></head><body>
<form name='mturk_form' method='post' id='mturk_form'
 action='https://www.mturk.com/mturk/externalSubmit'>
<input type='hidden' value='' name='assignmentId' id='assignmentId'/>
<textarea name='comment'></textarea><input type='submit' id='submitButton'></form>
</body></html>]]></HTMLContent><FrameHeight>450</FrameHeight></HTMLQuestion>"""
FORM = f"""<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">
<Overview><Title>Dogs {HOSTILE.replace("<", "&lt;").replace("&'", "&amp;'")}</Title></Overview>
<Question><QuestionIdentifier>colour</QuestionIdentifier><IsRequired>true</IsRequired>
<QuestionContent><Text>Which colour?</Text></QuestionContent><AnswerSpecification>
<SelectionAnswer><Selections>
<Selection><SelectionIdentifier>b</SelectionIdentifier><Text>Brown</Text></Selection>
<Selection><SelectionIdentifier>w</SelectionIdentifier><Text>White</Text></Selection>
</Selections></SelectionAnswer></AnswerSpecification></Question>
<Question><QuestionIdentifier>age</QuestionIdentifier>
<QuestionContent><Text>How old?</Text></QuestionContent><AnswerSpecification>
<FreeTextAnswer><Constraints><IsNumeric minValue="0" maxValue="40"/></Constraints></FreeTextAnswer>
</AnswerSpecification></Question></QuestionForm>"""
TEST = f"""<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">
<Question><QuestionIdentifier>q</QuestionIdentifier><IsRequired>true</IsRequired>
<QuestionContent><Text>Is a dog an animal?</Text></QuestionContent><AnswerSpecification>
<SelectionAnswer><Selections>
<Selection><SelectionIdentifier>y</SelectionIdentifier><Text>Yes</Text></Selection>
<Selection><SelectionIdentifier>n</SelectionIdentifier><Text>No</Text></Selection>
</Selections></SelectionAnswer></AnswerSpecification></Question></QuestionForm>"""
KEY = f"""<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd"><Question>
<QuestionIdentifier>q</QuestionIdentifier><AnswerOption>
<SelectionIdentifier>y</SelectionIdentifier><AnswerScore>80</AnswerScore></AnswerOption></Question>
</AnswerKey>"""


def new_worker(**changes: Any) -> Worker:
    """Sign somebody up."""
    given: dict[str, Any] = {"country": "DE", "is_adult": False} | changes
    name = f"person{next(_number)}"
    return worker_sign_up(username=name, password=PASSWORD, open_to_all=True, **given)


def signed_in(worker: Worker) -> Client:
    """Return a browser of its own in which the worker is signed in."""
    client = Client()
    assert worker.user is not None
    client.force_login(worker.user)
    return client


def new_hit(
    requester: Requester,
    *,
    question: str = EXTERNAL,
    assignments: int = 1,
    reward: int = 10,
    **changes: Any,
) -> HIT:
    """Publish a HIT whose type differs by `changes`."""
    hit_type = make_hit_type(requester, reward=reward, **changes)
    return hit_create(
        hit_type=hit_type, question=question, max_assignments=assignments, lifetime=3600
    )


def words(html: bytes | str) -> str:
    """Return a page's words, without marks, white space as single spaces."""
    text = html.decode() if isinstance(html, bytes) else html
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


def page(client: Client, path: str, status: int = 200) -> str:
    """Return the HTML of a page."""
    response = client.get(path)
    assert response.status_code == status, response.status_code
    return response.content.decode()


def accepted(client: Client, hit: HIT) -> Assignment:
    """Accept a HIT through the site."""
    response = client.post(
        f"/marketplace/groups/{hit.hit_type.hit_type_id}/accept/", {"hit": hit.hit_id}
    )
    assert response.status_code == 302
    assert "/work/" in response.headers["Location"]
    number = response.headers["Location"].split("/")[3]
    return Assignment.objects.get(hit=hit, assignment_id=number, status=AssignmentStatus.ACCEPTED)
