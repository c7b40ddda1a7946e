"""Visitors of the task pages who make up addresses, for tests of made-up assignments."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.test import Client

from annotation import models
from annotation.actions.work.confirmations import Submitted, assignment_confirm
from annotation.actions.work.guides import guide_save
from annotation.models import AssignmentStatus, SittingKind
from annotation.pipeline.protocol.questions import Stage
from common.clock import database_now
from tests.offers import offered
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import LINKS_TEST

MARKET = "https://market.example"


class Reply(NamedTuple):
    status: int
    body: dict[str, Any]


class Visitor:
    """Somebody with a browser who makes up addresses."""

    def __init__(self, campaign: models.Campaign, hit_id: str, *, test: bool = False) -> None:
        self.campaign = campaign
        self.hit_id = hit_id
        self.path = f"/hits/{campaign.pk}/links/" + ("test/" if test else "")
        self.client = Client()
        self.page: dict[str, Any] = {}

    def load(
        self,
        worker: str,
        assignment: str,
        sign: Callable[[dict[str, str]], dict[str, str]] | None = None,
    ) -> int:
        """Load the page under this name; return the status."""
        query = {
            "assignmentId": assignment,
            "hitId": self.hit_id,
            "workerId": worker,
            "turkSubmitTo": f"{MARKET}/marketplace",
        }
        response = self.client.get(self.path, sign(query) if sign else query)
        text = response.content.decode()
        found = re.search(r'<script id="page" type="application/json">(.*?)</script>', text, re.S)
        assert found is not None
        self.page = json.loads(found[1])
        return response.status_code

    def call(self, name: str, body: Any = None) -> Reply:
        response = self.client.post(
            f"/hits/api/{name}",
            data=json.dumps(body or {}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.page['token']}"},
        )
        return Reply(response.status_code, response.json())

    def agree(self) -> Reply | None:
        consent = self.page["consent"]
        if consent is None:
            return None
        reply = self.call("consent", {"version": consent["version"]})
        self.page["token"] = reply.body.get("token") or self.page["token"]
        return reply

    def sit(
        self,
        worker: str,
        assignment: str,
        sign: Callable[[dict[str, str]], dict[str, str]] | None = None,
    ) -> Reply:
        """Load, agree and open, as far as one gets."""
        status = self.load(worker, assignment, sign)
        if not self.page["token"]:
            return Reply(status, self.page["problem"])
        self.agree()
        return self.call("open")

    def answer(self, items: Sequence[dict[str, Any]], known: dict[str, str]) -> list[Reply]:
        """Answer a test with what was learnt about its photos; yes where nothing was learnt."""
        return [
            self.call(
                "draft",
                {"number": item["number"], "answer": {"answer": known.get(where(item), "yes")}},
            )
            for item in items
        ]


def where(item: dict[str, Any]) -> str:
    """Distinguish a question from others by its content."""
    return json.dumps([item["phrase"], item["captions"]])


def held() -> int:
    return models.SittingQuestion.objects.filter(released_at=None).exclude(key="").count()


def work_hits(campaign: models.Campaign, count: int) -> list[str]:
    return [
        offered(campaign, Stage.LINKS, f"WORK{number}", places=1).hit_id or ""
        for number in range(count)
    ]


def hit_of_test(campaign: models.Campaign, places: int = 100) -> str:
    return offered(campaign, Stage.LINKS, "TEST", SittingKind.TEST, places).hit_id or ""


def confirm(hit_id: str, worker: str, assignment: str, fields: dict[str, str]) -> None:
    """Let the platform say that this worker has submitted this assignment."""
    hits = models.Hit.objects.select_related("campaign__current_settings")
    assignment_confirm(
        hit=hits.get(hit_id=hit_id),
        submitted=Submitted(
            assignment_id=assignment,
            worker=worker,
            status=AssignmentStatus.SUBMITTED,
            submitted_at=database_now(),
            fields=fields,
        ),
    )


def campaign_with_test(folder: Path) -> models.Campaign:
    """Make a campaign of twelve images whose Links stage has a test."""
    made = small_campaign(folder, [f"image-{number}" for number in range(12)])
    guide = LINKS_TEST.replace('"first"', '"image-0"').replace('"second"', '"image-1"')
    guide_save(campaign=made, topic="links", source=guide)
    return made
