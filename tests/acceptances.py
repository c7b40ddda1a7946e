"""Claims of acceptance, as the marketplace signs them, for tests that begin at the task page.

The marketplace's own code makes them, so that annotation reads exactly what the marketplace writes.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.conf import settings as site
from pytest_django import Settings

from annotation.pipeline.work.acceptance import Acceptance
from marketplace.actions.requesters import access_key_issue
from marketplace.models import Requester
from marketplace.rules.acceptance import Accepted, acceptance_claim

KEY_ID = "AKCHAINBOXTESTS00000"
SECRET = "a secret that only the marketplace and we know"


def key_set(settings: Settings) -> None:
    """Let annotation have an access key of the marketplace."""
    settings.CHAINBOX_CROWD_KEY_ID, settings.CHAINBOX_CROWD_SECRET = KEY_ID, SECRET


def key_issue(requester: Requester) -> dict[str, str]:
    """Give a requester of the marketplace an access key, and let annotation be that requester.

    Returns the key's secret by its id. For tests that override settings anyway: these settings end
    together with theirs.
    """
    key = access_key_issue(requester=requester)
    site.CHAINBOX_CROWD_KEY_ID, site.CHAINBOX_CROWD_SECRET = key.key_id, key.secret
    return {key.key_id: key.secret}


def accepted(since: timedelta = timedelta(), left: timedelta = timedelta(hours=2)) -> Acceptance:
    """Return an acceptance so long ago, with so much time left; checked already."""
    now = datetime.now(UTC)
    return Acceptance(
        accepted=round((now - since).timestamp() * 1000),
        deadline=round((now + left).timestamp() * 1000),
    )


def with_acceptance(
    query: Mapping[str, str],
    *,
    since: timedelta = timedelta(),
    left: timedelta = timedelta(hours=2),
    keys: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the query that the marketplace appends to a page's address, with its claim."""
    now = datetime.now(UTC)
    claim = Accepted(
        assignment_id=query.get("assignmentId", ""),
        hit_id=query.get("hitId", ""),
        worker_id=query.get("workerId", ""),
        accepted_at=now - since,
        deadline=now + left,
    )
    return dict(query) | {"acceptance": acceptance_claim(claim, keys or {KEY_ID: SECRET})}
