"""HITs on the marketplace: which to ask about, how soon again, and what we know of them."""

from datetime import timedelta

from annotation import models
from annotation.models import AssignmentStatus, SittingStatus
from common.clock import database_now

# How long until a HIT without news is polled ...
LOOK_EVERY = timedelta(minutes=5)
# ... one that a worker has just submitted ...
LOOK_SOON = timedelta(seconds=30)
# ... and one that is fully submitted: the marketplace decides automatically only after hours.
LOOK_RARELY = timedelta(hours=1)
_UNCONFIRMED_FOR = timedelta(days=1)


def hits_are_due() -> bool:
    """Tell whether there is anything to look at, without locking anything."""
    return models.Hit.objects.filter(look_at__lte=database_now(), hit_id__isnull=False).exists()


def next_look(hit: models.Hit) -> timedelta:
    """Return how soon to ask about a HIT again, by what we know of it."""
    waiting = models.Sitting.objects.filter(
        hit_id=hit.hit_id or "",
        status=SittingStatus.FINISHED,
        assignment=None,
        finished_at__gt=database_now() - _UNCONFIRMED_FOR,
    )
    if waiting.exists():
        return LOOK_SOON
    return LOOK_RARELY if hit.assignments.count() >= hit.places else LOOK_EVERY


def hit_is_settled(hit: models.Hit) -> bool:
    """Tell whether all submitted assignments of a HIT have been decided on."""
    return not hit.assignments.filter(status=AssignmentStatus.SUBMITTED).exists()


def known_assignments(hit: models.Hit) -> dict[tuple[str, str], models.Assignment]:
    """Return the confirmed assignments of a HIT, by assignment and worker."""
    return {
        (one.assignment_id, one.worker.name): one
        for one in hit.assignments.select_related("worker", "hit")
    }
