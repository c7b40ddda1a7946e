"""The administration's pages take the same number of queries, however many rows there are."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.trust.standing import trust_revoke
from annotation.pipeline.protocol.questions import Stage
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.crowd.crowd_rows import appeal, assignment, failed_call, gold, trusted
from tests.web.review.admin_pages import listed, page, shown
from tests.web.review.test_admin import MODELS

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.once]


def fill(campaign: models.Campaign, numbers: range) -> None:
    """Give each table one row more for each number, at the least."""
    first = models.Worker.objects.filter(name="A0").first()
    for number in numbers:
        image = image_named(campaign, f"image-{number}")
        answer(image, limit=1)
        standing = trusted(campaign, f"A{number}")
        first = first or standing.worker
        for worker in (standing.worker, first):
            assignment(campaign, worker)
        trust_revoke(
            campaign=campaign, worker=standing.worker, stage=Stage.LINKS, reason="spam", by="me"
        )
        appeal(standing, "please")
        gold(campaign, image, number)
        failed_call(campaign, f"message/{number}", "no")


def test_lists_and_pages(client: Client, tmp_path: Path) -> None:
    client.force_login(User.objects.create_superuser("chief"))
    campaign = small_campaign(tmp_path, [f"image-{number}" for number in range(50)])
    models.StageSupply.objects.bulk_create(
        models.StageSupply(campaign=campaign, stage=stage.value) for stage in Stage
    )

    def statements() -> dict[str, int]:
        first = models.Worker.objects.get(name="A0")
        image = image_named(campaign, "image-0")
        chain = models.Chain.objects.get(image=image, number=1)
        paths = [listed(model) for model in MODELS]
        paths += [shown(row) for row in (chain, image, first, first.standings.get())]
        paths += [shown(chain).replace("change", "decide"), listed("chain") + "?phase=complete"]
        found = {}
        for path in paths:
            with CaptureQueriesContext(connection) as captured:
                page(client, path)
            found[path] = len(captured)
        return found

    fill(campaign, range(5))
    # Some things Django looks up once in a process.
    statements()
    few = statements()
    fill(campaign, range(5, 50))
    assert statements() == few
    assert max(few.values()) < 20
