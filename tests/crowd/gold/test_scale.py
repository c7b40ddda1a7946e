"""Choosing gold questions reads few rows, no matter how many there are."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.corpus.imports import tables_analyse
from annotation.actions.crowd.workers import worker_ensure
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.gold.gold_questions import gold_for
from tests.web.campaigns import small_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.slow]

IMAGES, GOLD, SITTINGS = 30_000, 100_000, 1_000
# A small part of the questions that there are, and of the judgments: a little more than the worker
# has seen, with what is looked up for each.
MOST_ROWS = 3_500

# A large campaign, without what choosing does not read. Of two workers' questions every fiftieth
# was a gold question. One of them has judged a third of the images. An earlier test may
# have left the database believing that the tables are all but empty.
FILL = """
    INSERT INTO annotation_image (campaign_id, name, filename, split, width, height, depth, file,
        sha256, begun_under_id, withdrawn_reason)
    SELECT campaign_id, 'many-' || n, filename, '', width, height, 3, file, sha256,
        begun_under_id, ''
    FROM annotation_image, generate_series(1, %(images)s) n WHERE name = 'one';
    INSERT INTO annotation_goldquestion (campaign_id, stage, image_id, key, answer, body, source,
        uses, retired_reason)
    SELECT %(campaign)s, 'links', first.id + n %% %(images)s, md5(n::text),
        CASE n %% 2 WHEN 0 THEN 'yes' ELSE 'no' END, repeat('x', 300) || '"workers":[7,8]}',
        CASE n %% 3 WHEN 0 THEN 'unanimous' ELSE 'imported' END, 2, ''
    FROM generate_series(1, %(gold)s) n,
        (SELECT min(id) id FROM annotation_image WHERE name LIKE 'many-%%') first;
    INSERT INTO annotation_sitting (campaign_id, stage, kind, worker_id, assignment_id, hit_id,
        proof, ways, status, until, digest, milliseconds, is_proven, mark)
    SELECT %(campaign)s, 'links', 'work', CASE n %% 2 WHEN 0 THEN %(worker)s ELSE %(other)s END,
        'a' || n, '', '', '', 'finished', now(), '', 0, true, ''
    FROM generate_series(1, 2 * %(sittings)s) n;
    INSERT INTO annotation_sittingquestion (sitting_id, number, image_id, key, gold_id,
        checked_worker_id, shown, answer, comment, sent_at, released_at)
    SELECT sitting.id, number, image.id, '',
        CASE WHEN number = 3 AND sitting.id %% 10 < 2 THEN gold.id + sitting.id %% 5000 END,
        CASE WHEN number = 3 AND sitting.id %% 10 < 2 THEN sitting.worker_id END,
        '{}', '', '', 0, now()
    FROM annotation_sitting sitting, generate_series(1, 10) number,
        (SELECT min(id) id FROM annotation_image) image,
        (SELECT min(id) id FROM annotation_goldquestion) gold;
    ANALYZE annotation_goldquestion, annotation_sittingquestion;
    UPDATE annotation_goldquestion SET uses = 1
    WHERE id IN (SELECT gold_id FROM annotation_sittingquestion);
    INSERT INTO annotation_fact (image_id, number, settings_id, kind, body, worker_id, question,
        counted)
    SELECT id, number, begun_under_id, 'judgment', '{}',
        CASE WHEN number = 2 AND id %% 3 = 0 THEN %(worker)s ELSE %(other)s END,
        'links/' || number || '-1/1', true
    FROM annotation_image, generate_series(1, 4) number WHERE name LIKE 'many-%%';
"""


def rows_read(plan: dict[str, Any]) -> int:
    """Count the rows that the leaves of a plan read, including those they discard."""
    inner = plan.get("Plans", [])
    own = 0
    if "Scan" in plan["Node Type"] and "Relation Name" in plan:
        lost = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
        own = round((plan["Actual Rows"] + lost) * plan["Actual Loops"])
    return own + sum(rows_read(part) for part in inner)


def test_bounded_at_thirty_thousand_images(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["one"])
    worker, other = worker_ensure(name="A1"), worker_ensure(name="A2")
    with connection.cursor() as cursor:
        cursor.execute(
            FILL,
            {
                "campaign": campaign.pk,
                "worker": worker.pk,
                "other": other.pk,
                "images": IMAGES,
                "gold": GOLD,
                "sittings": SITTINGS,
            },
        )
    tables_analyse()
    # Those that the worker has seen are the least used, and have to be passed over.
    assert rows_read(choosing_plan(campaign, worker)) < MOST_ROWS


def choosing_plan(campaign: models.Campaign, worker: models.Worker) -> dict[str, Any]:
    with CaptureQueriesContext(connection) as queries:
        assert len(gold_for(campaign, Stage.LINKS, worker, 10, "seed")) == 10
    [query] = queries.captured_queries
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query['sql']}")
        [found] = cursor.fetchone()
    plan: dict[str, Any] = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    return plan
