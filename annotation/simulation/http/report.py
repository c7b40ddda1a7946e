"""The report on each simulated worker: what they did, what they earned, where they are trusted."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from annotation import models
from annotation.models import PaymentKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.simulation.http.run import CrowdRun
from annotation.simulation.http.worker import HttpWorker, Outcome


def run_lines(run: CrowdRun) -> list[str]:
    """Return how the run went, one fact per line."""
    counts = ", ".join(f"{run.count(*outcomes):,} {words}" for words, outcomes in _WORDS.items())
    rate = run.requests / run.seconds if run.seconds else 0.0
    lines = [
        f"HITs: {counts}",
        f"{run.requests:,} requests in {run.seconds:,.0f} seconds ({rate:,.1f} a second)",
    ]
    return [f"Ended early: {run.cut_short}.", *lines] if run.cut_short else lines


_WORDS = {
    "submitted": (Outcome.SUBMITTED, Outcome.PASSED),
    "given back": (Outcome.RETURNED,),
    "with others": (Outcome.WITH_OTHERS,),
    "without questions": (Outcome.NOTHING_LEFT,),
    "refused": (Outcome.REFUSED,),
}


def worker_lines(campaign: models.Campaign, workers: Sequence[HttpWorker]) -> list[str]:
    """Return a table of the workers: sittings submitted, HITs paid, trust at every stage."""
    names = [worker.worker for worker in workers]
    sittings = Counter(
        models.Sitting.objects.filter(
            campaign=campaign, worker__name__in=names, status=SittingStatus.FINISHED
        ).values_list("worker__name", flat=True)
    )
    paid = Counter(
        models.Payment.objects.filter(
            campaign=campaign, kind=PaymentKind.REWARD, assignment__worker__name__in=names
        ).values_list("assignment__worker__name", flat=True)
    )
    trust: dict[str, dict[str, str]] = defaultdict(dict)
    standings = models.WorkerStanding.objects.filter(campaign=campaign, worker__name__in=names)
    for name, stage, word in standings.values_list("worker__name", "stage", "trust"):
        trust[name][stage] = word
    stages = "".join(f"{stage.value:<14}" for stage in Stage)
    lines = [f"{'worker':<16}{'sittings':>9}{'HITs paid':>11}  {stages}".rstrip()]
    for worker in workers:
        name = worker.worker
        words = "".join(f"{trust[name].get(stage.value, '–'):<14}" for stage in Stage)
        line = f"{name or '(never came)':<16}{sittings[name]:>9,}{paid[name]:>11,}  {words}"
        lines.append(f"{line}{_turned(worker)}".rstrip())
    return lines


def _turned(worker: HttpWorker) -> str:
    return f"spams at {worker.spams_at.value}" if worker.spams_at and worker.has_turned else ""
