"""A worker's desk: a browser signed in at the marketplace, with a HIT whose frame is ours.

The marketplace is at 127.0.0.1 and the task pages at localhost: another site to the browser, so
the frame is a third party's, as in real life.
"""

from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from playwright.sync_api import BrowserContext, FrameLocator, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from marketplace.models import HIT, Assignment, Requester, Worker
from tests.acceptances import key_issue
from tests.marketplace.people import make_requester
from tests.marketplace.site import new_hit, new_worker, signed_in
from tests.offers import offered, trusted

QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>{url}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
)


def origins_of(live_server: LiveServer) -> tuple[str, str]:
    """Return where the marketplace and where the task pages are."""
    port = urlsplit(live_server.url).port
    return f"http://127.0.0.1:{port}", f"http://localhost:{port}"


class Desk:
    """One worker, one HIT, one browser window."""

    def __init__(
        self,
        context: BrowserContext,
        live_server: LiveServer,
        origins: tuple[str, str] | None = None,
        worker: Worker | None = None,
    ) -> None:
        self.context = context
        self.marketplace, self.tasks = origins or origins_of(live_server)
        # One for all desks of a test: who opens a HIT again may do so at another desk.
        self.requester = Requester.objects.first() or make_requester()
        self.keys = key_issue(self.requester)
        self.worker: Worker = worker or new_worker()
        self.page: Page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.session = signed_in(self.worker).cookies["sessionid"].value
        context.add_cookies(
            [{"name": "sessionid", "value": self.session, "url": self.marketplace}],
        )

    def publish(self, campaign: models.Campaign, stage: Stage, test: bool = False) -> HIT:
        """Publish a HIT of the stage, or of its test, as the requester's side does."""
        url = f"{self.tasks}/hits/{campaign.pk}/{stage.value}/" + ("test/" if test else "")
        # Of a type of its own: the marketplace shows one HIT of each type.
        title = f"{stage.value} test" if test else stage.value
        hit = new_hit(self.requester, question=QUESTION.format(url=escape(url)), title=title)
        offered(campaign, stage, hit.hit_id, SittingKind.TEST if test else SittingKind.WORK)
        if not test:
            trusted(campaign, self.worker.worker_id, stage)
        return hit

    def preview(self, hit: HIT) -> FrameLocator:
        self.page.goto(f"{self.marketplace}/marketplace/groups/{hit.hit_type.hit_type_id}/")
        return self.frame

    def accept(self, hit: HIT) -> FrameLocator:
        """Accept the HIT and return its frame."""
        self.preview(hit)
        self.page.click("text=Accept and work")
        expect(self.page.locator(".at-work, iframe").first).to_be_visible()
        return self.frame

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    @property
    def assignment(self) -> Assignment:
        return Assignment.objects.get(worker=self.worker)

    @property
    def sitting(self) -> models.Sitting:
        return models.Sitting.objects.get(worker__name=self.worker.worker_id)
