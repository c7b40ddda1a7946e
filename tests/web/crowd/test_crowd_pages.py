"""The crowd's pages: what they show, who may change what, and that nothing gets through."""

import html
import re
import time
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.crowd.heartbeat import heartbeat_note
from annotation.actions.trust.standing import trust_revoke
from annotation.models import CallStatus, SupplyStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.accuracy import Accuracy
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.crowd.heartbeat import HEARTBEAT
from tests.web.accounts import researcher
from tests.web.campaigns import HOSTILE, small_campaign
from tests.web.crowd.crowd_rows import appeal, assignment, failed_call, trusted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_empty_cache")]


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second"])


@pytest.fixture
def reader(client: Client) -> Client:
    """Whoever may look at campaigns and not change them."""
    client.force_login(researcher())
    return client


def editor_account() -> User:
    account = User.objects.create_user("editor")
    account.user_permissions.add(
        *Permission.objects.filter(
            content_type__app_label="annotation", codename__in=["view_campaign", "change_campaign"]
        )
    )
    return account


@pytest.fixture
def editor() -> Client:
    client = Client()
    client.force_login(editor_account())
    return client


@pytest.fixture
def launched(campaign: models.Campaign) -> models.Campaign:
    """A campaign whose stages run; other tests cover what a launch needs."""
    models.StageSupply.objects.bulk_create(
        models.StageSupply(campaign=campaign, stage=stage.value) for stage in Stage
    )
    return campaign


def address(campaign: models.Campaign, rest: str = "") -> str:
    return f"/campaigns/{campaign.pk}/crowd/{rest}"


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def text_of(source: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", source)))


def said(client: Client, path: str, **data: str) -> str:
    """Post a form and return the text of the page that follows."""
    response = client.post(path, data, follow=True)
    assert response.status_code == 200
    found = re.search(r'<ul class="messages".*?</ul>', response.content.decode(), re.DOTALL)
    return text_of(found[0]) if found else ""


def row_of(source: str, name: str) -> str:
    found = re.search(rf"<tr[^>]*>\s*<th[^>]*>{name}.*?</tr>", source, re.DOTALL)
    assert found, f"no row {name}"
    return text_of(found[0])


def statuses(campaign: models.Campaign) -> dict[str, str]:
    return dict(models.StageSupply.objects.filter(campaign=campaign).values_list("stage", "status"))


# The overview


def test_the_campaigns_page_leads_there(reader: Client, campaign: models.Campaign) -> None:
    assert f'href="{address(campaign)}"' in page(reader, f"/campaigns/{campaign.pk}/")


def test_stages_in_numbers(reader: Client, launched: models.Campaign) -> None:
    trusted(launched, "A1")
    standing = trusted(launched, "A2")
    assignment(launched, standing.worker)
    models.OpenQuestion.objects.filter(image__name="first", stage="links").update(
        starved_at="2026-01-01T00:00:00Z"
    )
    links = row_of(page(reader, address(launched)), "Coreference Links")
    assert "Running" in links
    assert " 2 1 starved " in links, "open questions"
    assert "2 trusted" in links
    assert links.split()[-3:] == ["1", "2", "trusted"], "handed in"


def test_money_and_wages(reader: Client, launched: models.Campaign) -> None:
    standing = trusted(launched, "A1")
    assignment(launched, standing.worker)
    assignment(launched, standing.worker, paid=False)
    source = page(reader, address(launched))
    money = text_of(source[source.index('id="money"') :])
    assert "Paid $0.30 Paid today $0.30 Promised $0.30" in money
    # 25 cents in 75 seconds.
    assert "75 s $12.00" in money
    assert "The budget is used up" in text_of(source), "without a budget nothing is left"


def test_a_wage_below_the_floor_is_warned_of(reader: Client, launched: models.Campaign) -> None:
    standing = trusted(launched, "A1")
    assignment(launched, standing.worker)
    models.Sitting.objects.update(milliseconds=300_000)
    text = text_of(page(reader, address(launched)))
    assert "Links pays $3.00 an hour, less than $8.00" in text
    assert "$3.00 too low" in text


def test_whether_the_background_work_runs(reader: Client, campaign: models.Campaign) -> None:
    path = address(campaign)
    assert "nothing is published, confirmed or paid" in page(reader, path), "nobody has seen it"
    heartbeat_note()
    assert "nothing is published, confirmed or paid" not in page(reader, path)
    assert re.search(r"ran \d seconds ago", page(reader, path))
    cache.set(HEARTBEAT, time.time() - 600)
    text = text_of(page(reader, path))
    assert "The background process last ran 10 minutes ago. Until it runs, nothing is" in text


# Launch, pause, resume, drain


def test_what_a_launch_lacks_is_listed(editor: Client, campaign: models.Campaign) -> None:
    source = page(editor, address(campaign))
    text = text_of(source)
    assert "The budget is $0.00, less than the $0.45 of one HIT" in text
    assert "manage.py campaign_settings --campaign rides crowd.budget_cents=CENTS" in text
    assert 'value="launch"' not in source
    words = said(editor, address(campaign, "supply/"), do="launch")
    assert "Not launched" in words
    assert "the budget is $0.00" in words
    assert not models.StageSupply.objects.exists()


def test_one_stage_or_all(editor: Client, launched: models.Campaign) -> None:
    path = address(launched, "supply/")
    assert "Box Drawing is paused" in said(editor, path, do="pause", stage="drawing")
    assert statuses(launched) == {s.value: "running" for s in Stage} | {"drawing": "paused"}
    assert "Partly running" in page(editor, address(launched))
    assert "The campaign is draining" in said(editor, path, do="drain")
    assert set(statuses(launched).values()) == {SupplyStatus.DRAINING}
    assert "The campaign is running" in said(editor, path, do="resume")
    assert set(statuses(launched).values()) == {SupplyStatus.RUNNING}


@pytest.mark.parametrize(
    "data", [{}, {"do": "stop"}, {"do": "pause", "stage": "painting"}, {"stage": "links"}]
)
def test_nonsense_changes_nothing(
    editor: Client, launched: models.Campaign, data: dict[str, str]
) -> None:
    assert "no such stage or action" in said(editor, address(launched, "supply/"), **data)
    assert set(statuses(launched).values()) == {SupplyStatus.RUNNING}


def test_what_is_not_launched_cannot_be_paused(editor: Client, campaign: models.Campaign) -> None:
    words = said(editor, address(campaign, "supply/"), do="pause")
    assert "Nothing has changed: campaign 'rides' is not launched" in words


# Who may change what


def changing(campaign: models.Campaign) -> list[tuple[str, dict[str, str]]]:
    """Every address that changes something, with data that would."""
    standing = trusted(campaign, "A1")
    lost = trusted(campaign, "A2")
    trust_revoke(
        campaign=campaign, worker=lost.worker, stage=Stage.LINKS, reason="spam", by="somebody"
    )
    made = appeal(lost, "please")
    call = failed_call(campaign, "message/1", "no")
    return [
        (address(campaign, "supply/"), {"do": "pause"}),
        (
            address(campaign, f"workers/{standing.worker_id}/trust/"),
            {"do": "revoke", "stage": "links", "reason": "spam"},
        ),
        (address(campaign, f"appeals/{made.pk}/"), {"do": "reinstate", "reply": "welcome"}),
        (address(campaign, f"calls/{call.pk}/retry/"), {}),
    ]


def everything() -> list[object]:
    return [
        list(models.StageSupply.objects.values_list("pk", "status")),
        list(models.WorkerStanding.objects.values_list("pk", "trust")),
        list(models.Appeal.objects.values_list("pk", "decided_at")),
        list(models.OutboxCall.objects.values_list("pk", "status")),
    ]


def test_who_may_only_look_changes_nothing(reader: Client, launched: models.Campaign) -> None:
    addresses = changing(launched)
    before = everything()
    for path, data in addresses:
        assert reader.post(path, data).status_code == 403
    assert everything() == before
    source = "".join(page(reader, address(launched, rest)) for rest in ("", "workers/", "calls/"))
    assert re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', source) == (
        ["/accounts/logout/"] * 3
    )


def test_only_posts_with_their_token_change_anything(launched: models.Campaign) -> None:
    addresses = changing(launched)
    account = editor_account()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(account)
    before = everything()
    for path, data in addresses:
        assert strict.get(path, data).status_code == 405
        assert strict.post(path, data).status_code == 403
    assert everything() == before
    willing = Client()
    willing.force_login(account)
    for path, data in addresses:
        assert willing.post(path, data).status_code == 302
    assert all(a != b for a, b in zip(everything(), before, strict=True)), "it was not the data"


# Workers


def test_workers_with_accuracy_and_how_sure_it_is(
    reader: Client, campaign: models.Campaign
) -> None:
    trusted(campaign, "A1", right=33)
    source = page(reader, address(campaign, "workers/"))
    text = text_of(source)
    assert "A1 Coreference Links Trusted" in text
    assert "92%, between 78% and 97%; 36 checked, 80% needed" in text
    low, high = round(1000 * Accuracy(33, 36).low), round(1000 * Accuracy(33, 36).high)
    assert f'class="interval-unsure" x="{low}" y="3" width="{high - low}"' in source
    assert 'class="minimum" x1="800" x2="800"' in source


def test_workers_can_be_found(reader: Client, campaign: models.Campaign) -> None:
    trusted(campaign, "A1")
    trusted(campaign, "B2", Stage.DRAWING)
    lost = trusted(campaign, "B3")
    trust_revoke(campaign=campaign, worker=lost.worker, stage=Stage.LINKS, reason="", by="me")
    path = address(campaign, "workers/")

    def found(query: str) -> set[str]:
        return set(re.findall(r"<h2><a [^>]*>([^<]*)</a></h2>", page(reader, f"{path}?{query}")))

    assert found("") == {"A1", "B2", "B3"}
    assert found("name=B") == {"B2", "B3"}
    assert found("stage=drawing") == {"B2"}
    assert found("trust=revoked") == {"B3"}
    assert found("stage=links&trust=trusted") == {"A1"}
    assert found("stage=drawing&trust=revoked") == set()
    assert found("stage=nonsense&trust=%27%22&page=-3") == {"A1", "B2", "B3"}


def test_a_worker_with_all_that_happened(reader: Client, campaign: models.Campaign) -> None:
    standing = trusted(campaign, "A1")
    assignment(campaign, standing.worker)
    text = text_of(page(reader, address(campaign, f"workers/{standing.worker_id}/")))
    assert "$0.25 paid in 1 payment " in text
    assert "36 checked answers, 33 of them right" in text
    assert "Finished the qualification test with 10 of 10 right" in text
    assert "Coreference Links 1 0 0" in text, "sittings"


def test_another_campaigns_worker_is_not_there(reader: Client, campaign: models.Campaign) -> None:
    other = campaign_create(name="other")
    standing = trusted(other, "A1")
    assert reader.get(address(campaign, f"workers/{standing.worker_id}/")).status_code == 404


def test_revoking_takes_a_reason_and_reinstating_does_not(
    editor: Client, campaign: models.Campaign
) -> None:
    standing = trusted(campaign, "A1")
    path = address(campaign, f"workers/{standing.worker_id}/trust/")
    assert "Give a reason" in said(editor, path, do="revoke", stage="links", reason="  ")
    standing.refresh_from_db()
    assert standing.trust == Trust.TRUSTED
    assert "no longer trusted" in said(editor, path, do="revoke", stage="links", reason="spam")
    standing.refresh_from_db()
    assert standing.trust == Trust.REVOKED
    assert standing.standing.reason == "spam"
    assert "Trust was revoked: spam by editor" in text_of(page(editor, path.removesuffix("trust/")))
    assert "on probation" in said(editor, path, do="reinstate", stage="links")
    standing.refresh_from_db()
    assert standing.trust == Trust.PROBATION
    said(editor, path, do="revoke", stage="links", reason="again")
    said(editor, path, do="trust", stage="links")
    standing.refresh_from_db()
    assert standing.trust == Trust.TRUSTED


# Appeals


def revoked(campaign: models.Campaign, name: str) -> models.WorkerStanding:
    standing = trusted(campaign, name)
    trust_revoke(
        campaign=campaign, worker=standing.worker, stage=Stage.LINKS, reason="spam", by="me"
    )
    standing.refresh_from_db()
    return standing


def test_an_appeal_is_answered_once(editor: Client, campaign: models.Campaign) -> None:
    standing = revoked(campaign, "A1")
    made = appeal(standing, "I was ill")
    assert "I was ill" in page(editor, address(campaign))
    path = address(campaign, f"appeals/{made.pk}/")
    assert "Choose a decision" in said(editor, path, do="reinstate", reply=" ")
    assert "is answered" in said(editor, path, do="reinstate", reply="Try again")
    assert "already" in said(editor, path, do="refuse", reply="No")
    made.refresh_from_db()
    standing.refresh_from_db()
    assert (made.reinstated, made.reply) == (True, "Try again")
    assert standing.trust == Trust.PROBATION
    assert "I was ill" not in page(editor, address(campaign))


def test_an_appeal_of_another_campaign_is_not_there(
    editor: Client, campaign: models.Campaign
) -> None:
    made = appeal(revoked(campaign, "A1"), "please")
    other = campaign_create(name="other")
    path = address(other, f"appeals/{made.pk}/")
    assert editor.post(path, {"do": "reinstate", "reply": "yes"}).status_code == 404
    made.refresh_from_db()
    assert made.decided_at is None


# The outbox


def test_a_failed_call_is_shown_and_sent_again(editor: Client, campaign: models.Campaign) -> None:
    call = failed_call(campaign, "message/1", "the worker does not exist")
    for rest in ("", "calls/", "calls/?status=failed"):
        assert "the worker does not exist" in page(editor, address(campaign, rest))
    assert "message/1" not in page(editor, address(campaign, "calls/?status=done"))
    path = address(campaign, f"calls/{call.pk}/retry/")
    assert "will be sent again" in said(editor, path)
    call.refresh_from_db()
    assert call.status == CallStatus.WAITING
    assert call.next_try_at is not None
    assert "has not failed: it is waiting" in said(editor, path)
    other = campaign_create(name="other")
    assert editor.post(address(other, f"calls/{call.pk}/retry/")).status_code == 404


# What must never happen


def test_nothing_that_people_write_becomes_markup(
    editor: Client, launched: models.Campaign
) -> None:
    standing = revoked(launched, f"A{HOSTILE}")
    trust_revoke(
        campaign=launched,
        worker=trusted(launched, "A2").worker,
        stage=Stage.LINKS,
        reason=HOSTILE,
        by=HOSTILE,
    )
    appeal(standing, HOSTILE)
    failed_call(launched, "message/1", HOSTILE)
    other = models.Worker.objects.get(name="A2")
    for rest in (
        "",
        "workers/",
        f"workers/{standing.worker_id}/",
        f"workers/{other.pk}/",
        "calls/",
        f"workers/?name={HOSTILE}",
    ):
        source = page(editor, address(launched, rest))
        assert "<script" not in source
        assert "&lt;script&gt;" in source
        # The policy allows none of these.
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=", source)


@pytest.mark.slow
@pytest.mark.once
def test_pages_take_the_same_statements_however_many_rows(
    editor: Client, launched: models.Campaign
) -> None:
    def statements() -> list[int]:
        first = models.Worker.objects.get(name="A0")
        counts = []
        for rest in ("", "workers/", f"workers/{first.pk}/", "calls/"):
            with CaptureQueriesContext(connection) as captured:
                page(editor, address(launched, rest))
            counts.append(len(captured))
        return counts

    def fill(numbers: range) -> None:
        for number in numbers:
            standing = revoked(launched, f"A{number}")
            appeal(standing, "please")
            assignment(launched, models.Worker.objects.get(name="A0"))
            failed_call(launched, f"message/{number}", "no")

    fill(range(5))
    few = statements()
    fill(range(5, 50))
    assert statements() == few
