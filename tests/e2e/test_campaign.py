"""From import to release with simulated workers over HTTP, three of whom turn to spam.

On one site: web server, Celery and scheduler on PostgreSQL and Redis. The demo campaign and, when
all is run at its whole size and the public dataset is there, 100 of its images, with spammers.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from annotation.pipeline.corpus.corpus_image import annotation_of
from annotation.pipeline.protocol.state import decode_state
from annotation.pipeline.release.folder import image_ids
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import TYPICAL, Crowd
from tests.e2e.launch import DEMO_CORPUS, PUBLIC, Corpus, launch
from tests.e2e.quality import Quality, difference, directly, quality_of
from tests.e2e.site import Site, running_site
from tests.processes import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.postgres, pytest.mark.whole]

WORKERS = 12
SPAMMERS = 3
SEED = 4
# Of the direct simulation.
DIRECT_SEEDS = range(10)
MINUTES = 30


class Told(NamedTuple):
    """A line of the report's table of workers."""

    worker: str
    paid: int
    is_spammer: bool


@pytest.fixture
def corpora(public_corpus: Corpus | None) -> list[Corpus]:
    return [DEMO_CORPUS, public_corpus] if public_corpus else [DEMO_CORPUS]


def test_from_import_to_release(corpora: list[Corpus], postgres_url: str, tmp_path: Path) -> None:
    with running_site(postgres_url, tmp_path) as site:
        for corpus in corpora:
            launch(site, corpus)
        reports = simulate(site, corpora)
        check_workers(site, corpora, reports)
        check_money(site)
        for corpus in corpora:
            check_release(site, corpus, tmp_path / f"release-{corpus.campaign}")
        check_quality(site, corpora)
        assert "every stored state is what its facts fold to" in site.manage("state_check")


def simulate(site: Site, corpora: list[Corpus]) -> dict[str, str]:
    """Let the same people work on all campaigns at once; return what each run says."""
    runs = {
        corpus.campaign: subprocess.Popen(
            [
                *(sys.executable, "manage.py", "crowd_simulate", "--http"),
                *("--campaign", corpus.campaign, "--url", site.url, "--seed", str(SEED)),
                *("--workers", str(WORKERS), "--minutes", str(MINUTES), "--review"),
                # In the demo there is too little to do for spam to be found out by.
                *("--spammers", str(SPAMMERS if corpus.campaign == PUBLIC else 0)),
            ],
            env=site.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for corpus in corpora
    }
    reports = {}
    try:
        for name, run in runs.items():
            reports[name], _ = run.communicate()
            print(reports[name])
            assert run.returncode == 0, reports[name]
            assert "Ended early" not in reports[name], reports[name]
    finally:
        for run in runs.values():
            run.kill()
            run.wait()
    return reports


def workers_told(report: str) -> list[Told]:
    rows = re.findall(r"^(A[A-Z0-9]+) +[\d,]+ +([\d,]+) (.*)$", report, re.MULTILINE)
    return [Told(name, int(paid.replace(",", "")), "spams at" in rest) for name, paid, rest in rows]


def check_workers(site: Site, corpora: list[Corpus], reports: dict[str, str]) -> None:
    """Spammers end revoked and their work is doubted; the others keep their trust."""
    campaign = corpora[-1].campaign
    told = workers_told(reports[campaign])
    assert len(told) == WORKERS
    assert all(worker.paid > 0 for worker in told)
    spammers = [worker.worker for worker in told if worker.is_spammer]
    if len(corpora) > 1:
        assert len(spammers) == SPAMMERS
    for spammer in spammers:
        assert standings(site, campaign, spammer, "revoked"), spammer
        assert doubted(site, campaign, spammer), spammer
    for corpus in corpora:
        honest = [worker.worker for worker in told if worker.worker not in spammers]
        lost = [(one, *standings(site, corpus.campaign, one, "revoked")) for one in honest]
        # By the rule's own rate of false alarms one loss in fifty such runs is to be expected.
        assert sum(len(stages) - 1 for stages in lost) <= 1, lost
        kept = [one for one, *stages in lost if not stages]
        assert not any(doubted(site, corpus.campaign, one) for one in kept)


def standings(site: Site, campaign: str, worker: str, trust: str) -> list[str]:
    rows = site.select(
        "SELECT s.stage FROM annotation_workerstanding s"
        " JOIN annotation_worker w ON w.id = s.worker_id"
        " JOIN annotation_campaign c ON c.id = s.campaign_id"
        " WHERE c.name = %s AND w.name = %s AND s.trust = %s",
        (campaign, worker, trust),
    )
    return [stage for (stage,) in rows]


def doubted(site: Site, campaign: str, worker: str) -> int:
    """Count the judgments that are doubted because trust was lost, not because it was to come."""
    [(count,)] = site.select(
        "SELECT count(*) FROM annotation_fact d"
        " JOIN annotation_image i ON i.id = d.image_id"
        " JOIN annotation_campaign c ON c.id = i.campaign_id"
        " JOIN annotation_fact j ON j.image_id = d.image_id"
        "  AND j.number = (d.body::json ->> 'judgment')::int"
        " JOIN annotation_worker w ON w.id = j.worker_id"
        " WHERE d.kind = 'doubt' AND c.name = %s AND w.name = %s"
        " AND coalesce(d.body::json ->> 'reason', '') <> 'not trusted yet'",
        (campaign, worker),
    )
    return int(count)


def check_money(site: Site) -> None:
    """The ledger adds up, nothing is left promised, and what we noted as paid is what was paid."""
    # It asks about HIT after HIT: those of the small campaign will do.
    site.manage("crowd_check", "--campaign", "demo")
    [(unbalanced,)] = site.select(
        "SELECT count(*) FROM (SELECT transaction_id FROM marketplace_posting"
        " GROUP BY transaction_id HAVING sum(cents) <> 0) t"
    )
    assert unbalanced == 0
    paid = site.select(
        "SELECT w.name, sum(p.cents) FROM annotation_payment p"
        " JOIN annotation_assignment a ON a.id = p.assignment_id"
        " JOIN annotation_worker w ON w.id = a.worker_id GROUP BY w.name"
    )
    earned = site.select(
        "SELECT w.worker_id, a.balance FROM marketplace_account a"
        " JOIN marketplace_worker w ON w.id = a.worker_id"
        " WHERE a.kind = 'earnings' AND a.balance <> 0"
    )
    assert sorted((name, int(cents)) for name, cents in paid) == sorted(earned)
    assert len(earned) == WORKERS


def check_release(site: Site, corpus: Corpus, out: Path) -> None:
    """Every image is finished, by the crowd or by the reviewer, and released."""
    found = site.select(
        "SELECT i.name, s.status FROM annotation_image i"
        " JOIN annotation_storedstate s ON s.image_id = i.id"
        " JOIN annotation_campaign c ON c.id = i.campaign_id WHERE c.name = %s",
        (corpus.campaign,),
    )
    assert dict(found) == dict.fromkeys(image_ids(corpus.folder), "finished")
    site.manage("release_build", "--campaign", corpus.campaign, "--out", str(out))
    assert image_ids(out) == image_ids(corpus.folder)


def check_quality(site: Site, corpora: list[Corpus]) -> None:
    """Chains and boxes are as good as the direct simulation's, as far as can be told.

    Both have the same reviewer: spam that is found out leaves more to the reviewers, whose work
    is a part of what comes out.
    """
    crowds = [Crowd(list(range(1, WORKERS + 1)), TYPICAL, seed) for seed in DIRECT_SEEDS]
    keys: dict[str, AnswerKey] = {}
    theirs: dict[str, Quality] = {}
    for corpus in corpora:
        for image in corpus.images():
            keys[image.image] = AnswerKey(annotation_of(image))
            theirs[image.image] = directly(image, keys[image.image], crowds)
    rows = site.select(
        "SELECT i.name, s.body FROM annotation_image i"
        " JOIN annotation_storedstate s ON s.image_id = i.id"
    )
    ours = {name: quality_of(decode_state(body), keys[name]) for name, body in rows}
    assert ours.keys() == theirs.keys()
    found = {what: difference(ours, theirs, what) for what in ("chains", "boxes")}
    for what, interval in found.items():
        print(f"{what}, against the direct simulation: {interval}")
    if len(corpora) > 1:
        # Of twenty intervals that hold the truth with 95%, one does not.
        assert all(one.holds_nothing and one.width <= 6 for one in found.values()), found
