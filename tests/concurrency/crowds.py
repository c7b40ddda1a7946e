"""Many workers at a campaign's HITs, made in bulk, for tests of what they do at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Any, TypeVar

import msgspec
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.corpus.imports import Take
from annotation.actions.work.guides import guide_ensure
from annotation.hits.tokens import ticket_write
from annotation.models import CONSENT, HitStatus, SittingKind
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.trust.standing import Standing, Trust
from annotation.pipeline.work.display import encode_shown, shown
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from annotation.selectors.work.sittings import Claim, claim_proof
from common.clock import database_now
from tests.acceptances import accepted
from tests.corpora import campaign_with_images

T = TypeVar("T")
# What an image of `tests.corpora` asks at Links before anybody has answered.
LINKS_AN_IMAGE = 3
QUESTIONS = 2


def crowded_campaign(questions: int) -> models.Campaign:
    """Make a campaign with so many open questions at Links, two a sitting and none a check."""
    campaign = campaign_with_images(-(-questions // LINKS_AN_IMAGE), take=Take.NOTHING)
    models.Image.objects.update(file="photos/some.jpg")
    per_hit = {stage.value: QUESTIONS for stage in Stage}
    crowd = CrowdSettings(check_share=0.0)
    campaign_settings_change(campaign=campaign, questions_per_hit=per_hit, crowd=crowd)
    return models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)


def workers_trusted(campaign: models.Campaign, names: Iterable[str]) -> None:
    """Let these workers have agreed, and be trusted at Links."""
    workers = models.Worker.objects.bulk_create([models.Worker(name=name) for name in names])
    guide = guide_ensure(campaign=campaign, topic=CONSENT)
    models.Consent.objects.bulk_create(
        [models.Consent(worker=worker, guide=guide) for worker in workers]
    )
    body = msgspec.json.encode(Standing(trust=Trust.TRUSTED)).decode()
    models.WorkerStanding.objects.bulk_create(
        [
            models.WorkerStanding(
                campaign=campaign,
                worker=worker,
                stage=Stage.LINKS.value,
                trust=Trust.TRUSTED.value,
                body=body,
            )
            for worker in workers
        ]
    )


def hits_offered(campaign: models.Campaign, count: int) -> dict[str, models.Hit]:
    """Let so many HITs of one place be ours, by the marketplace's names `HIT-0`, `HIT-1`, …"""
    terms = models.HitTerms.objects.create(
        campaign=campaign,
        stage=Stage.LINKS.value,
        kind=SittingKind.WORK,
        digest="of a test",
        body="{}",
        reward_cents=25,
        cost_cents=25,
    )
    models.Hit.objects.bulk_create(
        [
            models.Hit(
                campaign=campaign,
                stage=Stage.LINKS.value,
                kind=SittingKind.WORK,
                terms=terms,
                status=HitStatus.OPEN,
                hit_id=f"HIT-{number}",
                held_cents=25,
                look_at=database_now() + timedelta(minutes=5),
            )
            for number in range(count)
        ]
    )
    hits = models.Hit.objects.select_related("campaign__current_settings")
    return {hit.hit_id or "": hit for hit in hits}


def claim_on(campaign: models.Campaign, worker: str, number: int, assignment: str = "") -> Claim:
    """Return a worker's claim on the HIT of that number."""
    return Claim(
        campaign=campaign.pk,
        stage=Stage.LINKS,
        kind=SittingKind.WORK,
        assignment_id=assignment or f"of-HIT-{number}",
        hit_id=f"HIT-{number}",
        worker=worker,
        acceptance=accepted(),
    )


def sittings_begun(claims: Sequence[Claim], opened_at: datetime) -> dict[Claim, models.Sitting]:
    """Let each claim's worker have opened a sitting then: the rows that opening it would leave."""
    workers = {worker.name: worker for worker in models.Worker.objects.all()}
    sittings = models.Sitting.objects.bulk_create(
        [
            models.Sitting(
                campaign_id=claim.campaign,
                stage=claim.stage.value,
                kind=claim.kind,
                worker=workers[claim.worker],
                assignment_id=claim.assignment_id,
                hit_id=claim.hit_id,
                proof=claim_proof(claim),
                opened_at=opened_at,
                accepted_at=opened_at,
                until=database_now() + timedelta(hours=1),
            )
            for claim in claims
        ]
    )
    free = models.OpenQuestion.objects.filter(stage=Stage.LINKS.value).order_by("image", "pk")
    questions = free.select_related("image__stored_state").iterator(chunk_size=500)
    # All images are alike.
    as_shown: dict[str, str] = {}
    rows = []
    for sitting in sittings:
        for number, row in enumerate(islice(questions, QUESTIONS), start=1):
            if row.key not in as_shown:
                state, question = row.image.stored_state.state, question_from_key(row.key)
                as_shown[row.key] = encode_shown(shown(state, question))
            rows.append(
                models.SittingQuestion(
                    sitting=sitting,
                    number=number,
                    image_id=row.image_id,
                    key=row.key,
                    shown=as_shown[row.key],
                )
            )
    assert len(rows) == QUESTIONS * len(claims), "there is a question for everybody"
    models.SittingQuestion.objects.bulk_create(rows)
    return dict(zip(claims, sittings, strict=True))


def post(
    view: Callable[[HttpRequest], HttpResponse], claim: Claim, body: Mapping[str, Any]
) -> HttpResponse:
    """Call one of the page's endpoints as its script does."""
    return view(
        RequestFactory().post(
            "/hits/api/",
            data=msgspec.json.encode(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {ticket_write(claim, 600)}"},
        )
    )


def all_alike(answer: str) -> dict[str, Any]:
    """Return what the page sends to hand in: the same answer to both questions."""
    return {"answers": [{"number": n, "answer": answer} for n in range(1, QUESTIONS + 1)]}


def done_by(threads: int, jobs: Sequence[Callable[[], T]]) -> list[T]:
    """Do jobs in their order, so many at a time, each thread with a connection of its own."""
    results: dict[int, T] = {}
    waiting = iter(enumerate(jobs))
    turn = Lock()

    def work() -> None:
        try:
            while True:
                with turn:
                    number, job = next(waiting, (-1, None))
                if job is None:
                    return
                results[number] = job()
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work) for _ in range(threads)]:
            done.result()
    return [results[number] for number in range(len(jobs))]


def live_leases() -> int:
    return models.SittingQuestion.objects.filter(released_at=None).exclude(key="").count()


def check_states() -> None:
    """See that the state of every image is what its facts fold to."""
    settings = settings_by_id()
    for image in images_with_facts(models.Image.objects.all()):
        assert image_differences(image, settings) == []
