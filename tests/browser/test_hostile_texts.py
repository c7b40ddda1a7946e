"""Two hundred hostile texts in every text field, on every page that shows it, in a browser."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Dialog, Page
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.actions.campaign.estimates import estimate_ask, estimate_fail, estimate_take
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.trust.standing import trust_revoke
from annotation.actions.work.guides import guide_save
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.trust.appeals import appeal_url
from grounding.models import Experiment, ExperimentStatus
from marketplace import models as market
from marketplace.actions.assignments import assignment_reject, assignment_submit
from marketplace.rules.lifecycle import AssignmentStatus
from tests.browser.payloads import MARK, PAYLOADS
from tests.browser.texts import CODED, FREE, text_fields
from tests.crowd.supplies import fresh
from tests.marketplace.people import make_requester
from tests.marketplace.site import accepted, new_hit, new_worker
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.crowd.crowd_rows import appeal, assignment, failed_call, gold, trusted

pytestmark = [pytest.mark.slow, pytest.mark.once, pytest.mark.django_db(transaction=True)]

# On no page: for requesters' programs (API), for files, for logs and for the database alone.
NOT_SHOWN = {
    *("annotation.image.filename", "annotation.pendingdoubt.reason"),
    *("annotation.sittingquestion.comment", "marketplace.event.destination"),
    *("marketplace.event.last_error", "marketplace.hit.annotation", "marketplace.invitation.note"),
    *("marketplace.notificationsettings.destination", "marketplace.qualification.reason"),
    *("marketplace.qualificationtype.keywords", "marketplace.transaction.memo"),
    *("marketplace.workerblock.reason",),
}
# Rows that the database lets nobody change; what is shown of them is planted when they are made.
APPEND_ONLY = {"annotation.trustevent.by", "marketplace.transaction.memo"}
# Runs before any script of a page: notes whatever a payload brings about.
WATCHING = f"""
window.{MARK} = () => {{ window.hasRun = true; }};
window.violations = [];
document.addEventListener("securitypolicyviolation",
  (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""
# What a text has become that is more than text, and which fields are to be seen.
LOOKING = f"""() => {{
  const found = [], seen = [document.documentElement.textContent];
  for (const element of document.querySelectorAll("*")) {{
    const name = element.localName;
    if (name.includes("{MARK}")) found.push("element " + name);
    if (name === "script" && !element.src && !(element.type || "").includes("json"))
      found.push("script " + element.textContent.slice(0, 80));
    if (typeof element.value === "string") seen.push(element.value);
    for (const attribute of element.attributes) {{
      const key = attribute.name.toLowerCase();
      seen.push(attribute.value);
      if (key.startsWith("on") || key.includes("{MARK}"))
        found.push(`${{name}}[${{attribute.name}}]`);
      const isAddress = ["href", "src", "action", "formaction", "xlink:href", "data", "srcdoc"];
      const isScript = /^\\s*(javascript|vbscript|data:text)/i.test(attribute.value);
      if (isAddress.includes(key) && isScript)
        found.push(`${{name}}[${{key}}=${{attribute.value.slice(0, 80)}}]`);
    }}
  }}
  const fields = new Set();
  const labels = seen.join("\\n").matchAll(/\\[(\\w+\\.\\w+\\.\\w+)\\]/g);
  for (const label of labels) fields.add(label[1]);
  return {{found, fields: [...fields], hasRun: Boolean(window.hasRun),
           violations: window.violations}};
}}"""


def hostile(label: str) -> str:
    """Return what is planted in a field: its name, to find it by, and all payloads."""
    text = "\n".join(PAYLOADS)
    # An image's name is part of its page's address: an import takes none with a slash.
    return f"[{label}] " + (text.replace("/", "|") if label == "annotation.image.name" else text)


def plant() -> None:
    """Write all payloads into every free text of every row there is."""
    for label in set(FREE) - APPEND_ONLY - {"annotation.guide.source"}:
        model, field = text_fields()[label], label.rpartition(".")[2]
        rows = model._default_manager.values_list("pk", flat=True)
        assert rows, f"the test makes no row of {label}"
        for pk in rows:
            # Past the length that forms and PostgreSQL set; some names must differ.
            value = f"{hostile(label)} {pk}"
            model._default_manager.filter(pk=pk).update(**{field: value})


def make_campaign(folder: Path) -> models.Campaign:
    """Make a campaign with workers, an appeal, a failed call, an estimate and guides."""
    campaign = small_campaign(folder, ["first", "second", "third"])
    answer(image_named(campaign, "first"))
    standing = trusted(campaign, "A1")
    assignment(campaign, standing.worker)
    done = assignment(campaign, standing.worker, paid=False)
    assert done.sitting is not None
    models.SittingQuestion.objects.create(
        sitting=done.sitting, number=1, image=image_named(campaign, "second"), key="k", shown="{}"
    )
    lost = trusted(campaign, "A2", right=20)
    appeal(lost, "I looked at every photo.")
    failed_call(campaign, "message/1", "they cannot be written to")
    gold(campaign, image_named(campaign, "second"), 1)
    judged = models.Fact.objects.filter(kind="judgment").first()
    assert judged is not None
    models.PendingDoubt.objects.create(image=judged.image, judgment=judged.pk, reason="x")
    image_withdraw(image=image_named(campaign, "third"), reason="x")
    who = hostile("annotation.trustevent.by")
    trust_revoke(campaign=campaign, worker=standing.worker, stage=Stage.LINKS, reason=who, by=who)
    estimate_ask(campaign=fresh(campaign), by=None)
    taken = estimate_take()
    assert taken is not None
    estimate_fail(stored=taken, error="x")
    text = hostile("annotation.guide.source").replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("\n", "\\n").replace("\t", "\\t")
    # Braces in a question are places for phrases, and others are refused.
    question = text.replace("{", "(").replace("}", ")")
    guide_save(
        campaign=campaign,
        topic="links",
        source=f'title = "{text}"\nquestion = "{question}"\nguidelines = ["{text}"]\n',
    )
    return campaign


def make_market(chief: market.Worker) -> None:
    """Make HITs, a rejection, a bonus, a message and qualifications of one worker."""
    requester = make_requester()
    client = Client()
    assert chief.user is not None
    client.force_login(chief.user)
    rejected = accepted(client, new_hit(requester, title="first"))
    assignment_submit(assignment=rejected, answer="<Answers/>")
    assignment_reject(assignment=rejected, feedback="x")
    accepted(client, new_hit(requester, title="second"))
    new_hit(requester, title="third")
    market.BonusPayment.objects.create(
        requester=requester, worker=chief, assignment=rejected, cents=5, reason="x"
    )
    market.Message.objects.create(requester=requester, worker=chief, subject="x", text="x")
    kind = market.QualificationType.objects.create(
        requester=requester, name="x", description="x", keywords="x"
    )
    market.Qualification.objects.create(
        qualification_type=kind, worker=chief, reason="x", granted_at=timezone.now()
    )
    other = market.QualificationType.objects.create(
        requester=requester, name="y", description="x", keywords="x"
    )
    market.QualificationRequest.objects.create(
        qualification_type=other, worker=chief, submitted_at=timezone.now()
    )
    market.Invitation.objects.create(requester=requester, code_hash="x")
    market.NotificationSettings.objects.create(
        hit_type=rejected.hit.hit_type, transport="SNS", version="x"
    )
    market.Event.objects.create(requester=requester, body="{}")
    market.WorkerBlock.objects.create(requester=requester, worker=new_worker(), reason="x")


@pytest.fixture
def chief() -> market.Worker:
    """A worker who is also a superuser: all pages are theirs."""
    worker = new_worker()
    assert worker.user is not None
    worker.user.is_staff = worker.user.is_superuser = True
    worker.user.save()
    LogEntry.objects.create(
        user=worker.user,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(worker.user.pk),
        object_repr="x",
        action_flag=CHANGE,
        change_message="x",
    )
    Group.objects.create(name="x")
    Experiment.objects.create(
        recipe="image_sentence", release="x", vectors="x", status=ExperimentStatus.FAILED, error="x"
    )
    Experiment.objects.create(recipe="image_sentence", status=ExperimentStatus.RUNNING, step="x")
    recalls = dict.fromkeys(("r1", "r5", "r10", "median_rank"), 1.0)
    found = dict.fromkeys(("image_to_sentence", "sentence_to_image"), recalls)
    Experiment.objects.create(
        recipe="image_sentence", status=ExperimentStatus.DONE, metrics={"val": found, "test": None}
    )
    return worker


@pytest.fixture
def context(browser: Browser, live_server: LiveServer, chief: market.Worker) -> Iterator[object]:
    made = browser.new_context()
    made.set_default_timeout(60_000)
    made.add_init_script(WATCHING)
    client = Client()
    assert chief.user is not None
    client.force_login(chief.user)
    session = client.cookies["sessionid"].value
    made.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    yield made
    made.close()


def dashboard_pages(campaign: models.Campaign) -> list[str]:
    names = ["campaign", "guides", "crowd", "crowd-workers", "crowd-calls"]
    return [
        *(reverse("campaigns"), reverse("experiments")),
        *(reverse(name, args=[campaign.pk]) for name in names),
        *(reverse("image", args=[campaign.pk, one.name]) for one in campaign.images.all()),
        reverse("guide", args=[campaign.pk, "links"]),
        *(
            reverse("crowd-worker", args=[campaign.pk, w.pk])
            for w in models.Worker.objects.all()[:3]
        ),
        *(reverse("experiment", args=[one.pk]) for one in Experiment.objects.all()),
        *(appeal_url(one) for one in models.WorkerStanding.objects.all()[:2]),
        reverse("hits:page", args=[campaign.pk, "links"]),
        reverse("hits:examples", args=[campaign.pk, "links"]),
    ]


def market_pages() -> list[str]:
    names = ("browse", "dashboard", "earnings", "messages", "qualifications", "account")
    groups = market.HITType.objects.values_list("hit_type_id", flat=True)
    open_ = market.Assignment.objects.filter(status=AssignmentStatus.ACCEPTED)
    kinds = market.QualificationType.objects.values_list("qualification_type_id", flat=True)
    return [
        *(reverse(f"marketplace:{name}") for name in names),
        *(reverse("marketplace:group", args=[number]) for number in groups),
        *(reverse("marketplace:work", args=[one.assignment_id]) for one in open_),
        *(reverse("marketplace:qualification", args=[number]) for number in kinds),
    ]


def admin_pages() -> list[str]:
    """Return the list of every table in the administration, and its first row's page."""
    found = [reverse("admin:index")]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        found.append(reverse(f"{name}_changelist"))
        first = model._default_manager.order_by("pk").first()
        if first is not None:
            found.append(reverse(f"{name}_change", args=[first.pk]))
            found.append(reverse(f"{name}_history", args=[first.pk]))
    return found


class Look:
    """What a page was found to hold."""

    def __init__(self, page: Page, address: str) -> None:
        dialogs: list[Dialog] = []

        def appeared(dialog: Dialog) -> None:
            dialogs.append(dialog)
            dialog.dismiss()

        page.on("dialog", appeared)
        response = page.goto(address, wait_until="load")
        assert response is not None
        self.status = response.status
        found = page.evaluate(LOOKING)
        self.fields: set[str] = set(found["fields"])
        self.troubles: list[str] = [*found["found"], *found["violations"]]
        self.troubles += ["a script ran"] * found["hasRun"] + ["a dialog"] * len(dialogs)


def test_there_are_two_hundred_payloads_and_every_text_field_is_classed() -> None:
    assert len(set(PAYLOADS)) >= 200
    assert not set(FREE) & set(CODED)
    assert set(text_fields()) == set(FREE) | set(CODED), "say in texts.py who writes this field"


def test_no_text_becomes_more_than_text_on_any_page(
    live_server: LiveServer, context: BrowserContext, chief: market.Worker, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path)
    make_market(chief)
    plant()
    page = context.new_page()
    shown: set[str] = set()
    troubles: dict[str, object] = {}
    for path in [*dashboard_pages(campaign), *market_pages(), *admin_pages()]:
        address = path if "://" in path else f"{live_server.url}{path}"
        look = Look(page, address.replace("http://localhost:8000", live_server.url))
        shown |= look.fields
        if look.troubles or look.status >= 500:
            troubles[path[:80]] = (look.status, look.troubles[:3])
    assert troubles == {}
    hidden = set(FREE) - shown
    assert hidden == NOT_SHOWN, f"nowhere to be seen: {sorted(hidden)}"


def test_the_test_would_see_a_hole(
    live_server: LiveServer, context: BrowserContext, tmp_path: Path, settings: Settings
) -> None:
    """The same page without escaping, which is the commonest of mistakes."""
    models.Campaign.objects.bulk_create([models.Campaign(name=hostile("annotation.campaign.name"))])
    page = context.new_page()
    assert Look(page, live_server.url).troubles == []
    leaky = deepcopy(settings.TEMPLATES)
    leaky[0]["OPTIONS"]["autoescape"] = False
    settings.TEMPLATES = leaky
    seen = Look(page, live_server.url).troubles
    assert any(trouble.startswith("script ") for trouble in seen), "an element"
    assert any("onerror" in trouble for trouble in seen), "an attribute"
    assert any("javascript" in trouble for trouble in seen), "an address"
    assert any(trouble.startswith("script-src") for trouble in seen), "the policy's own alarm"
    # Where no policy stops it, it runs.
    bare = context.new_page()
    bare.set_content(f"<title>bare</title>{hostile('annotation.campaign.name')}")
    assert bare.evaluate(LOOKING)["hasRun"]
