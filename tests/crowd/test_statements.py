"""The number of SQL statements of a sitting: small, and the same with 100 and 30,000 images."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.gold.gold_questions import gold_make
from annotation.actions.work.confirmations import assignment_confirm
from annotation.hits.tokens import ticket_write
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from tests.corpora import campaign_with_images
from tests.crowd.work import hit_of, submitted, turn
from tests.web.work.task_pages import agree

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.once, pytest.mark.django_db]

TO_LOAD = 10
TO_SUBMIT = 60


class Counted:
    """The statements that ran, but for the marks of a transaction, which are the test's own."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        if not sql.startswith(("SAVEPOINT", "RELEASE SAVEPOINT")):
            self.statements.append(sql)
        return execute(sql, *rest)

    def __len__(self) -> int:
        return len(self.statements)


@contextmanager
def counted() -> Iterator[Counted]:
    counter = Counted()
    with connection.execute_wrapper(counter):
        yield counter


def call(name: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
    response = Client().post(
        f"/hits/api/{name}",
        data=body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert response.status_code == 200, response.content
    reply: dict[str, Any] = response.json()
    return reply


def a_sitting(images: int) -> dict[str, int]:
    """Open, load again and submit a sitting of ten, gold questions among them."""
    campaign = campaign_with_images(images, name=f"of {images}")
    models.Image.objects.filter(campaign=campaign).update(file="photos/some.jpg")
    campaign_settings_change(campaign=campaign, crowd=CrowdSettings(check_share=0.2))
    campaign = models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)
    gold_make(campaign=campaign, stages=[Stage.LINKS], from_answer_key=True, most_images=20)
    claim = turn(campaign, f"A{images}", 1)
    agree(claim)
    token = ticket_write(claim, 600)
    with counted() as first:
        opened = call("open", token, {})
    with counted() as again:
        assert call("open", token, {})["id"] == opened["id"]
    sitting = models.Sitting.objects.get(pk=opened["id"])
    assert sitting.questions.filter(gold__isnull=False).count() == 2
    assert len({row.image_id for row in sitting.questions.all()}) >= 4, "of several images"
    answers = [{"number": item["number"], "answer": "no"} for item in opened["items"]]
    assert len(answers) == 10
    with counted() as finish:
        call("finish", token, {"answers": answers, "sitting": sitting.pk})
    sitting.refresh_from_db()
    told, hit = submitted(claim, sitting), hit_of(claim)
    with counted() as confirm:
        assignment_confirm(hit=hit, submitted=told)
    assert models.Fact.objects.filter(image__campaign=campaign).count() == 8
    return {
        "open": len(first),
        "load": len(again),
        "finish": len(finish),
        "confirm": len(confirm),
    }


def test_statements_of_a_sitting_are_few_and_the_same_at_any_size() -> None:
    small = a_sitting(100)
    assert small["open"] <= TO_LOAD
    assert small["load"] <= TO_LOAD
    assert small["finish"] + small["confirm"] <= TO_SUBMIT
    assert a_sitting(30_000) == small
