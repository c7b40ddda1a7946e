"""The administration: permissions, read-only tables, and its actions."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.protocol.facts import decision_record
from annotation.actions.trust.standing import trust_revoke
from annotation.models import CallStatus, Operation
from annotation.pipeline.protocol.facts import SendTo, Target
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from tests.web.campaigns import HOSTILE, answer, image_named, small_campaign
from tests.web.crowd.crowd_rows import appeal, assignment, failed_call, gold, trusted
from tests.web.review.admin_pages import act, listed, page, shown, staff, text_of

pytestmark = pytest.mark.django_db

MODELS = (
    "appeal",
    "assignment",
    "chain",
    "fact",
    "goldquestion",
    "hit",
    "image",
    "outboxcall",
    "payment",
    "stagesupply",
    "worker",
    "workerstanding",
)


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first"])


@pytest.fixture
def chief(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("chief"))
    return client


def a_row_of_each(campaign: models.Campaign) -> dict[str, Any]:
    image = image_named(campaign, "first")
    answer(image)
    standing = trusted(campaign, "A1")
    done = assignment(campaign, standing.worker)
    lost = trusted(campaign, "A2")
    trust_revoke(
        campaign=campaign, worker=lost.worker, stage=Stage.LINKS, reason="spam", by="somebody"
    )
    rows = [
        appeal(lost, "please"),
        done,
        models.Chain.objects.filter(image=image).first(),
        models.Fact.objects.filter(image=image).first(),
        gold(campaign, image, 1),
        done.hit,
        image,
        failed_call(campaign, "message/1", "no"),
        done.payments.get(),
        models.StageSupply.objects.create(campaign=campaign, stage="links"),
        standing.worker,
        standing,
    ]
    found = {str(row._meta.model_name): row for row in rows if row is not None}
    assert sorted(found) == sorted(MODELS)
    return found


# Nothing is edited


def test_every_table_can_be_looked_at_and_none_edited(
    chief: Client, campaign: models.Campaign
) -> None:
    for model, row in a_row_of_each(campaign).items():
        assert row.pk is not None
        page(chief, listed(model))
        source = page(chief, shown(row))
        assert 'name="_save"' not in source
        assert chief.post(shown(row), {"stage": "links"}).status_code == 403
        assert chief.get(reverse(f"admin:annotation_{model}_add")).status_code == 403
        delete = reverse(f"admin:annotation_{model}_delete", args=[row.pk])
        assert chief.get(delete).status_code == 403
        assert chief.post(delete, {"post": "yes"}).status_code == 403
        assert "delete_selected" not in page(chief, listed(model))


def test_without_a_permission_nothing_is_there(campaign: models.Campaign) -> None:
    rows = a_row_of_each(campaign)
    clerk = staff("view_worker")
    for model, row in rows.items():
        expected = 200 if model == "worker" else 403
        assert clerk.get(listed(model)).status_code == expected
        assert clerk.get(shown(row)).status_code == expected
    text = text_of(page(clerk, shown(rows["worker"])))
    assert "36 checked" not in text, "standings take a permission of their own"
    assert "$0.25" not in text


def test_who_may_look_may_not_act(campaign: models.Campaign) -> None:
    rows = a_row_of_each(campaign)
    clerk = staff(*(f"view_{model}" for model in MODELS))
    for model, action, given in (
        ("workerstanding", "revoke", {"reason": "spam"}),
        ("appeal", "decide", {"reinstate": "1", "reply": "yes"}),
        ("outboxcall", "retry", {}),
        ("goldquestion", "retire", {"reason": "wrong"}),
        ("assignment", "bonus", {"cents": "5", "reason": "thanks", "once": "0" * 32}),
    ):
        assert f'value="{action}"' not in page(clerk, listed(model))
        act(clerk, action, rows[model], **given)
    assert clerk.get(shown(rows["chain"]).replace("change", "decide")).status_code == 403
    assert models.WorkerStanding.objects.get(pk=rows["workerstanding"].pk).trust == Trust.TRUSTED
    assert models.Appeal.objects.get().decided_at is None
    assert models.OutboxCall.objects.get(pk=rows["outboxcall"].pk).status == CallStatus.FAILED
    assert models.GoldQuestion.objects.get().retired_at is None
    assert not models.OutboxCall.objects.filter(operation=Operation.BONUS).exists()
    assert not LogEntry.objects.exists()


def test_pages_that_are_not_there(chief: Client, campaign: models.Campaign) -> None:
    for model in ("chain", "image", "worker"):
        for key in ("999999", "nonsense", "9" * 40):
            path = reverse(f"admin:annotation_{model}_change", args=[key])
            assert chief.get(path, follow=True).redirect_chain, f"{model} {key}"
    assert chief.get("/admin/annotation/chain/999999/decide/").status_code == 404
    assert chief.get("/admin/annotation/image/999999/decide/").status_code == 404


# Chains


def test_a_chain_over_its_photo(chief: Client, campaign: models.Campaign) -> None:
    image = image_named(campaign, "first")
    given = answer(image)
    man, horse = models.Chain.objects.filter(image=image).order_by("number")
    source = page(chief, shown(man))
    assert 'viewBox="0 0 60 40"' in source
    assert source.count('class="box chain-') == 2
    assert source.count('class="box chain-2 is-faded"') == 1, "the horse's"
    assert '<rect class="edge" x="4" y="5" width="20" height="30"/>' in source
    assert re.findall(r'class="mention chain-1">([^<]*)<', source) == ["A man", "The guy"]
    assert "mention chain-2" not in source
    text = text_of(source)
    assert "5, 6 to 24, 35 accepted" in text
    facts = re.findall(r'<td class="number">(\d+)</td>\s*<td class="wrap">', source)
    boxes = {b.number for b in models.Box.objects.filter(image=image) if man.number in b.chains}
    about = {
        number
        for number, judgment in enumerate(given, start=1)
        if judgment.question.stage is Stage.LINKS
        or (judgment.question.stage is Stage.QUALITY and judgment.question.subject[0] in boxes)
        or (
            judgment.question.stage not in (Stage.LINKS, Stage.QUALITY)
            and judgment.question.subject[0] == man.number
        )
    }
    assert {int(number) for number in facts} == about
    assert 0 < len(about) < len(given), "the horse has facts of its own"
    assert "Show on the dashboard" in text_of(page(chief, shown(horse)))


def test_chains_can_be_found(chief: Client, campaign: models.Campaign) -> None:
    image = image_named(campaign, "first")
    answer(image)
    decision_record(
        image_id=image.pk,
        decision=SendTo(reviewer=1, chain=2, target=Target.REVIEW, reason="no horse"),
    )

    def found(query: str) -> list[str]:
        return re.findall(r">(chain \d)</a>", page(chief, f"{listed('chain')}?{query}"))

    assert found("") == ["chain 1", "chain 2"]
    assert found("phase=review") == ["chain 2"]
    assert found("reason=no+horse") == ["chain 2"]
    assert found("reason=no+cow") == []
    assert found("type=people") == ["chain 1"]
    assert found("type=people&phase=review") == []
    assert found("q=fir") == ["chain 1", "chain 2"]
    assert found("q=irst") == []
    assert found(f"image__campaign__id__exact={campaign.pk}") == ["chain 1", "chain 2"]
    other = campaign_create(name="other")
    assert found(f"image__campaign__id__exact={other.pk}") == []


def test_long_lists_end_early(
    chief: Client, campaign: models.Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(image_named(campaign, "first"))
    assert "the first" not in page(chief, listed("fact"))
    monkeypatch.setattr("annotation.admin.base.MOST_LISTED", 3)
    source = page(chief, listed("fact"))
    assert "(the first 3; search or filter for others)" in source
    assert "3 facts" in text_of(source)


# What must never happen


def test_nothing_that_people_write_becomes_markup(chief: Client, campaign: models.Campaign) -> None:
    image = image_named(campaign, "first")
    answer(image)
    decision_record(
        image_id=image.pk,
        decision=SendTo(reviewer=1, chain=1, target=Target.REVIEW, reason=HOSTILE),
    )
    standing = trusted(campaign, f"A{HOSTILE}")
    trust_revoke(
        campaign=campaign, worker=standing.worker, stage=Stage.LINKS, reason=HOSTILE, by=HOSTILE
    )
    made = appeal(standing, HOSTILE)
    failed_call(campaign, "message/1", HOSTILE)
    chain = models.Chain.objects.get(image=image, number=1)
    sources = [
        *(page(chief, listed(m)) for m in ("chain", "fact", "worker", "appeal", "outboxcall")),
        *(page(chief, shown(row)) for row in (chain, image, standing.worker, standing, made)),
        page(chief, reverse("admin:annotation_chain_decide", args=[chain.pk])),
        page(chief, reverse("admin:annotation_image_decide", args=[image.pk])),
        chief.post(
            listed("appeal"), {"action": "decide", "_selected_action": [made.pk]}
        ).content.decode(),
    ]
    for source in sources:
        assert "<script>" not in source
        assert "&lt;script&gt;" in source
        # The policy allows none of these.
        assert not re.search(r"<[^>]*\sstyle=|<style|<[^>]*\son[a-z]+=", source)


def test_changes_take_a_token(campaign: models.Campaign) -> None:
    standing = trusted(campaign, "A1")
    answer(image_named(campaign, "first"))
    chain = models.Chain.objects.first()
    assert chain is not None
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("chief"))
    data: dict[str, Any] = {
        "action": "revoke",
        "_selected_action": [standing.pk],
        "confirmed": "1",
        "reason": "x",
    }
    assert strict.post(listed("workerstanding"), data).status_code == 403
    strict.get(listed("workerstanding"), data)
    path = reverse("admin:annotation_chain_decide", args=[chain.pk])
    decision = {"decision": "no_box", "scene": "on"}
    assert strict.post(path, decision).status_code == 403
    strict.get(path, decision)
    standing.refresh_from_db()
    assert standing.trust == Trust.TRUSTED
    assert not models.Fact.objects.filter(kind="no_box").exists()
