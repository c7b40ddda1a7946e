"""The terms of a campaign's HITs, one row for each set of terms."""

from collections.abc import Mapping

from django.conf import settings as site
from msgspec.structs import replace

from annotation import models
from annotation.models import SittingKind
from annotation.pipeline.crowd.terms import Terms, terms_of_test, terms_of_work
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.work.guides import shipped_guide
from annotation.selectors.work.arrivals import is_proof_required
from annotation.selectors.work.guides import guide_read, guides_current

TermsByTask = dict[tuple[Stage, SittingKind], models.HitTerms]


def terms_now(*, campaign: models.Campaign, settings: Settings) -> TermsByTask:
    """Return the terms of all stages and of all existing tests, in a few statements."""
    guides = guides_current(campaign)
    wanted: dict[tuple[Stage, SittingKind], Terms] = {}
    for stage in Stage:
        row = guides.get(stage.value)
        guide = shipped_guide(stage) if row is None else guide_read(row)
        wanted[stage, SittingKind.WORK] = terms_of_work(
            campaign.name, stage, guide, settings, proven=is_proof_required()
        )
        if guide.test:
            wanted[stage, SittingKind.TEST] = terms_of_test(campaign.name, stage, guide, settings)
    addresses = (site.CHAINBOX_TASK_URL, site.CHAINBOX_CROWD_WEBHOOK)
    wanted = {task: replace(terms, addresses=addresses) for task, terms in wanted.items()}
    found = _rows(campaign, wanted)
    missing = [task for task in wanted if task not in found]
    if not missing:
        return found
    models.HitTerms.objects.bulk_create(
        [
            models.HitTerms(
                campaign=campaign,
                stage=stage.value,
                kind=kind,
                digest=wanted[stage, kind].digest,
                body=wanted[stage, kind].body,
                reward_cents=wanted[stage, kind].reward_cents,
                cost_cents=wanted[stage, kind].cost_cents,
            )
            for stage, kind in missing
        ],
        ignore_conflicts=True,
    )
    return _rows(campaign, wanted)


def _rows(
    campaign: models.Campaign, wanted: Mapping[tuple[Stage, SittingKind], Terms]
) -> TermsByTask:
    digests = {(stage, kind, terms.digest) for (stage, kind), terms in wanted.items()}
    rows = models.HitTerms.objects.filter(
        campaign=campaign, digest__in=[digest for _, _, digest in digests]
    )
    tasks = ((Stage(row.stage), SittingKind(row.kind), row) for row in rows)
    return {
        (stage, kind): row for stage, kind, row in tasks if (stage, kind, row.digest) in digests
    }
