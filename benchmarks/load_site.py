"""The site of the load test: a campaign, HITs on its own marketplace, and signed-in workers."""

import os
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

# The number of questions per sitting; the total number limits how long a run can be.
QUESTIONS, OPEN_QUESTIONS = 5, 9000
HITS = 300


class LoadPlan(msgspec.Struct, frozen=True):
    """What the clients need: the site's address, and the cookies of signed-in users."""

    url: str
    bare_url: str
    group: str
    campaign: int
    workers: tuple[str, ...]
    researcher: str
    # The requester's access key, with which the site verifies the marketplace's claims of
    # acceptance.
    key_id: str
    secret: str


def prepare(url: str, bare_url: str, users: int) -> LoadPlan:
    """Fill the database and return the plan."""
    from annotation import models
    from annotation.actions.campaign.campaigns import campaign_settings_change
    from annotation.actions.corpus.imports import Take
    from annotation.models import SittingKind
    from annotation.pipeline.protocol.questions import Stage
    from annotation.pipeline.protocol.settings import CrowdSettings
    from marketplace.actions.requesters import access_key_issue
    from tests.browser.kit.desk import QUESTION
    from tests.concurrency.crowds import LINKS_AN_IMAGE
    from tests.corpora import campaign_with_images
    from tests.marketplace.people import make_requester
    from tests.marketplace.site import new_hit, new_worker
    from tests.offers import offered, trusted
    from tests.web.accounts import researcher

    campaign = campaign_with_images(OPEN_QUESTIONS // LINKS_AN_IMAGE, take=Take.NOTHING)
    models.Image.objects.update(file="photos/some.jpg")
    campaign_settings_change(
        campaign=campaign,
        questions_per_hit={stage.value: QUESTIONS for stage in Stage},
        # The clients all answer no, so checks would expose them; that is another benchmark.
        crowd=CrowdSettings(check_share=0.0),
    )
    tasks = url.replace("127.0.0.1", "localhost")
    question = QUESTION.format(url=escape(f"{tasks}/hits/{campaign.pk}/{Stage.LINKS.value}/"))
    requester = make_requester(cents=HITS * users * 20)
    key = access_key_issue(requester=requester)
    group = ""
    for _ in range(HITS):
        hit = new_hit(requester, question=question, assignments=users, title="links")
        offered(campaign, Stage.LINKS, hit.hit_id, SittingKind.WORK)
        group = hit.hit_type.hit_type_id
    workers = [new_worker() for _ in range(users)]
    for worker in workers:
        trusted(campaign, worker.worker_id, Stage.LINKS)
    return LoadPlan(
        url=url,
        bare_url=bare_url,
        group=group,
        campaign=campaign.pk,
        workers=tuple(_session(worker.user) for worker in workers),
        researcher=_session(researcher()),
        key_id=key.key_id,
        secret=key.secret,
    )


def _session(user: object) -> str:
    """Sign somebody in without a password, because checking one is slow on purpose."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)  # type: ignore[arg-type]  # an account, whichever
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def main() -> None:
    """Write the plan to the file that the command line names."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    url, bare_url, users, file = sys.argv[1:]
    Path(file).write_bytes(msgspec.json.encode(prepare(url, bare_url, int(users))))


if __name__ == "__main__":
    main()
