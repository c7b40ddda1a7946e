"""Whether the marketplace and we agree about all that was done, table by table.

For a site where nobody works and nothing is sent at the moment.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from tests.e2e.site import Site

# What was submitted, on the marketplace and with us, in the same words.
_THEIRS: Final = (
    "SELECT h.hit_id, a.assignment_id, w.worker_id, lower(a.status)"
    " FROM marketplace_assignment a JOIN marketplace_hit h ON h.id = a.hit_id"
    " JOIN marketplace_worker w ON w.id = a.worker_id"
    " WHERE a.status IN ('Submitted', 'Approved', 'Rejected') ORDER BY 1, 2, 3"
)
_OURS: Final = (
    "SELECT h.hit_id, a.assignment_id, w.name, a.status"
    " FROM annotation_assignment a JOIN annotation_hit h ON h.id = a.hit_id"
    " JOIN annotation_worker w ON w.id = a.worker_id ORDER BY 1, 2, 3"
)


def submitted(site: Site) -> int:
    """Count what workers have submitted."""
    [(count,)] = site.select(f"SELECT count(*) FROM ({_THEIRS}) t")
    return int(count)


def judged(site: Site) -> int:
    """Count the judgments that answers have become."""
    [(count,)] = site.select("SELECT count(*) FROM annotation_fact WHERE kind = 'judgment'")
    return int(count)


def paid_since(site: Site, moment: datetime) -> int:
    """Count what was submitted since then and has been paid, as we have noted."""
    [(count,)] = site.select(
        "SELECT count(*) FROM annotation_payment p"
        " JOIN annotation_assignment a ON a.id = p.assignment_id WHERE a.submitted_at > %s",
        (moment,),
    )
    return int(count)


def unsettled(site: Site) -> list[str]:
    """Name what was submitted and is not paid, and the calls that are not sent."""
    waiting = site.select(
        "SELECT a.assignment_id || ' is submitted' FROM marketplace_assignment a"
        " WHERE a.status = 'Submitted'"
        " UNION ALL SELECT a.assignment_id || ' is paid, and unknown or not paid here'"
        " FROM marketplace_assignment a WHERE a.status = 'Approved' AND NOT EXISTS ("
        "  SELECT 1 FROM annotation_assignment o JOIN annotation_payment p"
        "  ON p.assignment_id = o.id WHERE o.assignment_id = a.assignment_id)"
        " UNION ALL SELECT key || ' waits: tried ' || attempts || ' times, next in '"
        "  || (next_try_at - now()) || ' ' || last_error"
        " FROM annotation_outboxcall WHERE status = 'waiting'"
    )
    return [words for (words,) in waiting]


def check_agreement(site: Site, after: str) -> None:
    """Nothing is lost and nothing is there twice; a failure says after what."""
    for check in CHECKS:
        problem = check(site)
        assert not problem, f"after {after}: {check.__doc__} Not so: {problem}"
    assert "all agree" in site.manage("crowd_check"), after
    assert "every stored state is what its facts fold to" in site.manage("state_check"), after


def _assignments(site: Site) -> object:
    """What was submitted there is confirmed here, once, for the same worker and HIT."""
    theirs, ours = site.select(_THEIRS), site.select(_OURS)
    return (set(theirs) ^ set(ours)) or len(ours) - len(set(ours))


def _rewards(site: Site) -> object:
    """Every confirmed assignment is approved, and paid once, with us and in the ledger there."""
    return site.select(
        "SELECT a.assignment_id, a.status, count(DISTINCT p.id), count(DISTINCT t.id)"
        " FROM annotation_assignment a JOIN annotation_worker w ON w.id = a.worker_id"
        " LEFT JOIN annotation_payment p ON p.assignment_id = a.id AND p.kind = 'reward'"
        " LEFT JOIN marketplace_transaction t"
        "  ON t.kind = 'reward' AND t.key = 'reward/' || a.assignment_id || '/' || w.name"
        " GROUP BY a.id HAVING a.status <> 'approved' OR count(DISTINCT p.id) <> 1"
        " OR count(DISTINCT t.id) <> 1"
    )


def _money(site: Site) -> object:
    """Each worker has earned what we have noted as paid to them, and no more."""
    return site.select(
        "SELECT * FROM (SELECT w.name, sum(p.cents) AS cents FROM annotation_payment p"
        "  JOIN annotation_assignment a ON a.id = p.assignment_id"
        "  JOIN annotation_worker w ON w.id = a.worker_id GROUP BY w.name) ours"
        " FULL JOIN (SELECT w.worker_id, a.balance FROM marketplace_account a"
        "  JOIN marketplace_worker w ON w.id = a.worker_id"
        "  WHERE a.kind = 'earnings' AND a.balance <> 0) theirs ON ours.name = theirs.worker_id"
        " WHERE ours.cents IS DISTINCT FROM theirs.balance"
    )


def _ledger(site: Site) -> object:
    """The marketplace's ledger adds up, in every transaction and every account."""
    return site.select(
        "SELECT 'transaction', transaction_id, sum(cents) FROM marketplace_posting"
        " GROUP BY transaction_id HAVING sum(cents) <> 0"
        " UNION ALL SELECT 'account', a.id, a.balance - coalesce(sum(p.cents), 0)"
        " FROM marketplace_account a LEFT JOIN marketplace_posting p ON p.account_id = a.id"
        " GROUP BY a.id HAVING a.balance <> coalesce(sum(p.cents), 0)"
    )


def _hits(site: Site) -> object:
    """Each HIT there is one of ours, and each of ours is there once."""
    return site.select(
        "SELECT t.hit_id, t.annotation, o.hit_id, o.token FROM marketplace_hit t"
        " FULL JOIN (SELECT h.hit_id, c.token FROM annotation_hit h"
        "  JOIN annotation_outboxcall c ON c.hit_id = h.id AND c.operation = 'create_hit'"
        "  WHERE h.hit_id IS NOT NULL) o ON t.annotation = 'chainbox:' || o.token"
        " WHERE t.hit_id IS DISTINCT FROM o.hit_id"
    ) + site.select(
        "SELECT annotation, count(*) FROM marketplace_hit GROUP BY annotation HAVING count(*) > 1"
    )


def _judgments(site: Site) -> object:
    """Every answer of a confirmed sitting is one judgment, and no judgment comes from elsewhere."""
    answers = site.select(
        "SELECT q.image_id, q.key, s.worker_id FROM annotation_sittingquestion q"
        " JOIN annotation_sitting s ON s.id = q.sitting_id"
        " JOIN annotation_assignment a ON a.sitting_id = s.id"
        " WHERE s.kind = 'work' AND q.gold_id IS NULL AND q.answer <> ''"
    )
    judgments = site.select(
        "SELECT image_id, question, worker_id FROM annotation_fact WHERE kind = 'judgment'"
    )
    return (set(answers) ^ set(judgments)) or len(judgments) - len(set(judgments))


def _leases(site: Site) -> object:
    """A question that is not released is in a sitting that somebody is at."""
    return site.select(
        "SELECT s.id, s.status, s.confirmed_at, q.image_id, q.key"
        " FROM annotation_sittingquestion q JOIN annotation_sitting s ON s.id = q.sitting_id"
        " JOIN annotation_worker w ON w.id = s.worker_id"
        " WHERE q.released_at IS NULL AND q.key <> '' AND s.status <> 'open' AND NOT EXISTS ("
        "  SELECT 1 FROM marketplace_assignment a JOIN marketplace_worker m ON m.id = a.worker_id"
        "  WHERE a.assignment_id = s.assignment_id AND m.worker_id = w.name"
        "  AND a.status = 'Accepted')"
    )


def _calls(site: Site) -> object:
    """No call has failed."""
    return site.select(
        "SELECT key, attempts, last_error FROM annotation_outboxcall WHERE status = 'failed'"
    )


CHECKS: Final[tuple[Callable[[Site], object], ...]] = (
    *(_assignments, _rewards, _money, _ledger, _hits, _judgments, _leases, _calls),
)
