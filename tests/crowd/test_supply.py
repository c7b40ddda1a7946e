"""Supply: which HITs are published and taken back, and that nothing is lost on the way."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.crowd.supply import SupplyError, hits_plan, supply_set
from annotation.actions.crowd.terms import terms_now
from annotation.actions.work.guides import guide_save
from annotation.models import CallStatus, HitStatus, Operation, SittingKind, SupplyStatus
from annotation.pipeline.crowd.supply import Change
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.crowd.supply import StageSupplyRow, stage_supplies
from common.clock import database_now
from tests.crowd.supplies import (
    BEGINNING,
    accept,
    calls,
    close,
    crowd_change,
    published,
    submit,
    supplied,
    work_hits,
)
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import LINKS_TEST, claim_of, opened

pytestmark = pytest.mark.django_db


def row_of(campaign: models.Campaign, stage: Stage) -> StageSupplyRow:
    return next(row for row in stage_supplies(campaign) if row.stage is stage)


def test_a_campaign_that_is_not_launched_publishes_nothing(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    assert hits_plan(campaign=campaign) == {}
    assert not models.Hit.objects.exists()
    with pytest.raises(SupplyError, match="campaign_launch --campaign rides"):
        supply_set(campaign=campaign, status=SupplyStatus.PAUSED)


def test_as_many_hits_as_questions_fill_each_with_its_call(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=25, fee_percent=10)
    changes = hits_plan(campaign=campaign)
    assert {stage: change for stage, change in changes.items() if change != Change()} == {
        stage: Change(publish=3) for stage in BEGINNING
    }
    hits = work_hits(campaign)
    assert [hit.status for hit in hits] == [HitStatus.CREATING] * 6
    assert {(hit.places, hit.is_free) for hit in hits} == {(1, True)}
    # 25 and 27 cents, and a tenth of it rounded up.
    assert {hit.stage: hit.held_cents for hit in hits} == {"links": 28, "requirement": 30}
    keys = models.OutboxCall.objects.values_list("key", flat=True)
    assert sorted(keys) == sorted(f"create_hit/{hit.pk}" for hit in hits)
    assert set(hits_plan(campaign=campaign).values()) == {Change()}, "planned once"
    assert len(work_hits(campaign)) == 6


def test_questions_that_nobody_can_be_given_count_for_nothing(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=30)
    first = list(models.Image.objects.order_by("pk").values_list("pk", flat=True))
    models.Image.objects.filter(pk__in=first[:5]).update(file="")
    models.OpenQuestion.objects.filter(image__in=first[-5:]).update(starved_at=database_now())
    opened(claim_of(campaign))  # ten questions of links
    changes = hits_plan(campaign=campaign)
    assert changes[Stage.LINKS] == Change(publish=1)
    assert changes[Stage.REQUIREMENT] == Change(publish=2)


def test_what_is_no_longer_needed_is_taken_back_the_newest_first(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=80)
    hits = [hit for hit in published(campaign) if hit.stage == "links"]
    accept(hits[-1])
    models.OpenQuestion.objects.filter(stage="links", pk__gt=_pk_of_question(30)).delete()
    assert hits_plan(campaign=campaign)[Stage.LINKS] == Change(take_back=4)
    closing = work_hits(campaign, HitStatus.CLOSING)
    # Somebody has the newest.
    assert closing == hits[3:-1]
    assert {call.hit for call in models.OutboxCall.objects.filter(operation="expire_hit")} == {
        *closing
    }
    assert all(hit.held_cents == 25 for hit in closing), "held until the marketplace confirms"


def _pk_of_question(number: int) -> int:
    rows = models.OpenQuestion.objects.filter(stage="links").order_by("pk")
    return rows.values_list("pk", flat=True)[number - 1]


def test_what_is_only_just_being_created_is_taken_back_last(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=30)
    old = [hit for hit in published(campaign) if hit.stage == "links"]
    for hit in old[:2]:
        accept(hit)
    hits_plan(campaign=campaign)
    new = [hit for hit in work_hits(campaign, HitStatus.CREATING) if hit.stage == "links"]
    assert len(new) == 2
    models.OpenQuestion.objects.filter(stage="links", pk__gt=_pk_of_question(11)).delete()
    crowd_change(campaign, hits_ceiling={stage.value: 2 for stage in Stage})
    assert hits_plan(campaign=campaign)[Stage.LINKS] == Change(take_back=1)
    assert [h for h in work_hits(campaign, HitStatus.CLOSING) if h.stage == "links"] == [old[2]]


def test_pause_takes_back_what_waits_and_leaves_what_is_under_way(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=50)
    hits = [hit for hit in published(campaign) if hit.stage == "links"]
    accept(hits[0])
    sitting = opened(claim_of(campaign, hit_id=hits[0].hit_id))
    handed_in = submit(hits[1])
    changes = supply_set(campaign=campaign, status=SupplyStatus.PAUSED, stages=[Stage.LINKS])
    assert changes[Stage.LINKS] == Change(take_back=3)
    assert work_hits(campaign, HitStatus.CLOSING) == hits[2:]
    for hit in hits[:2]:
        hit.refresh_from_db()
        assert (hit.status, hit.held_cents) == (HitStatus.OPEN, 25)
    assert sitting.questions.filter(released_at=None).count() == 10, "no lease is lost"
    assert models.Assignment.objects.get() == handed_in
    row = row_of(campaign, Stage.LINKS)
    assert (row.status, row.waiting, row.at_work, row.done) == (SupplyStatus.PAUSED, 0, 1, 1)
    # The other stages go on, and pausing again changes nothing.
    assert row_of(campaign, Stage.REQUIREMENT).status == SupplyStatus.RUNNING
    assert row_of(campaign, Stage.REQUIREMENT).waiting == 5
    again = supply_set(campaign=campaign, status=SupplyStatus.PAUSED, stages=[Stage.LINKS])
    assert set(again.values()) == {Change()}
    assert calls(campaign, Operation.EXPIRE_HIT, CallStatus.WAITING) == 3


def test_resume_publishes_again(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=50)
    published(campaign)
    supply_set(campaign=campaign, status=SupplyStatus.PAUSED)
    assert not work_hits(campaign, HitStatus.OPEN)
    assert hits_plan(campaign=campaign)[Stage.LINKS] == Change()
    changes = supply_set(campaign=campaign, status=SupplyStatus.RUNNING)
    assert {stage for stage, change in changes.items() if change == Change(publish=5)} == {
        *BEGINNING
    }


def test_draining_adds_nothing_and_leaves_what_is_needed(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=50)
    hits = published(campaign)
    for hit in hits:
        if hit.stage == "links":
            accept(hit)
    changes = supply_set(campaign=campaign, status=SupplyStatus.DRAINING)
    assert set(changes.values()) == {Change()}
    assert len(work_hits(campaign)) == len(hits)
    models.OpenQuestion.objects.filter(stage="requirement").delete()
    assert hits_plan(campaign=campaign)[Stage.REQUIREMENT] == Change(take_back=5)


def test_a_hit_that_was_never_sent_just_goes(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=30)
    hits_plan(campaign=campaign)
    untried, tried, refused = [h for h in work_hits(campaign) if h.stage == "links"]
    models.OutboxCall.objects.filter(hit=tried).update(attempts=1)
    models.OutboxCall.objects.filter(hit=refused).update(
        attempts=1, status=CallStatus.FAILED, next_try_at=None
    )
    supply_set(campaign=campaign, status=SupplyStatus.PAUSED, stages=[Stage.LINKS])
    state = {hit.pk: (hit.status, hit.held_cents) for hit in work_hits(campaign)}
    assert state[untried.pk] == state[refused.pk] == (HitStatus.CLOSED, 0)
    # It may have arrived: it is taken back from there.
    assert state[tried.pk] == (HitStatus.CLOSING, 25)
    waiting = models.OutboxCall.objects.filter(status=CallStatus.WAITING, stage="links")
    assert {call.key for call in waiting} == {f"create_hit/{tried.pk}", f"expire_hit/{tried.pk}"}
    dropped = models.OutboxCall.objects.filter(status=CallStatus.DROPPED)
    assert {call.hit_id for call in dropped} == {untried.pk, refused.pk}
    assert not dropped.exclude(next_try_at=None)


def test_an_expired_hit_makes_room_for_another(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=10)
    hit = published(campaign)[0]
    hit.expires_at = database_now() - timedelta(seconds=1)
    hit.save()
    assert hits_plan(campaign=campaign)[Stage(hit.stage)] == Change(publish=1)


# Terms


def test_hits_under_old_terms_are_taken_back_and_published_anew(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=40)
    hits = [hit for hit in published(campaign) if hit.stage == "links"]
    accept(hits[0])
    crowd_change(campaign, price_cents=dict.fromkeys(Stage, 27))
    changes = hits_plan(campaign=campaign)
    assert changes[Stage.LINKS] == Change(publish=4), "three that were taken back and one"
    assert changes[Stage.REQUIREMENT] == Change(), "which pays 27 cents already"
    assert work_hits(campaign, HitStatus.CLOSING) == hits[1:]
    new = work_hits(campaign, HitStatus.CREATING)
    assert {hit.held_cents for hit in new} == {27}
    assert len({hit.terms_id for hit in new}) == 1
    hits[0].refresh_from_db()
    assert (hits[0].status, hits[0].held_cents) == (HitStatus.OPEN, 25), "somebody has it"
    assert set(hits_plan(campaign=campaign).values()) == {Change()}


def test_a_fee_is_part_of_the_terms_and_the_same_terms_are_one_row(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=10)
    first = published(campaign)[0]
    crowd_change(campaign, fee_percent=20)
    hits_plan(campaign=campaign)
    new = next(h for h in work_hits(campaign, HitStatus.CREATING) if h.stage == first.stage)
    assert (first.terms.cost_cents, new.terms.cost_cents) == (25, 30)
    assert first.terms.body == new.terms.body
    crowd_change(campaign, fee_percent=0)
    hits_plan(campaign=campaign)
    latest = work_hits(campaign, HitStatus.CREATING)
    assert first.terms_id in {hit.terms_id for hit in latest}


def test_while_draining_old_terms_stay(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=40)
    hits = published(campaign)
    supply_set(campaign=campaign, status=SupplyStatus.DRAINING)
    crowd_change(campaign, price_cents=dict.fromkeys(Stage, 40))
    assert set(hits_plan(campaign=campaign).values()) == {Change()}
    assert work_hits(campaign, HitStatus.OPEN) == hits


def test_what_the_marketplace_is_told(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=2, platform_hits=500, platform_percent=95)
    terms = terms_now(campaign=campaign, settings=campaign.settings)[Stage.LINKS, SittingKind.WORK]
    body = msgspec.json.decode(terms.body)
    assert body["Reward"] == "0.25"
    assert body["AssignmentDurationInSeconds"] == 7200
    assert body["AutoApprovalDelayInSeconds"] == 168 * 3600
    assert [
        (r["QualificationTypeId"], r["Comparator"], r["IntegerValues"])
        for r in body["QualificationRequirements"]
    ] == [
        ("{qualification}", "GreaterThanOrEqualTo", [1]),
        ("00000000000000000040", "GreaterThanOrEqualTo", [500]),
        ("000000000000000000L0", "GreaterThanOrEqualTo", [95]),
    ]
    for words in ("10 questions", "$0.25", "2 minutes", "1 hour"):
        assert words in body["Description"]
    assert len(body["Title"]) <= 128
    same = terms_now(campaign=campaign, settings=campaign.settings)[Stage.LINKS, SittingKind.WORK]
    assert same.pk == terms.pk


# Tests


def a_test(campaign: models.Campaign) -> None:
    image, other = models.Image.objects.order_by("pk").values_list("name", flat=True)[:2]
    source = LINKS_TEST.replace('"first"', f'"{image}"').replace('"second"', f'"{other}"')
    guide_save(campaign=campaign, topic="links", source=source)


def offered_tests(campaign: models.Campaign, *status: HitStatus) -> list[models.Hit]:
    rows = models.Hit.objects.filter(campaign=campaign, kind=SittingKind.TEST)
    return list(rows.filter(status__in=status or HitStatus.values).order_by("pk"))


def test_tests_are_offered_as_often_as_they_may_be_taken(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=5)
    a_test(campaign)
    hits_plan(campaign=campaign)
    tests = offered_tests(campaign)
    assert [(hit.stage, hit.places, hit.held_cents) for hit in tests] == [("links", 100, 0)] * 2
    body = msgspec.json.decode(tests[0].terms.body)
    requirement = body["QualificationRequirements"][0]
    assert (requirement["Comparator"], body["Reward"]) == ("DoesNotExist", "0.00")
    for words in ("2 questions", "80%", "$0.25 each", "up to 2 times", "pays nothing"):
        assert words in body["Description"]
    hits_plan(campaign=campaign)
    assert len(offered_tests(campaign)) == 2
    # One that is full is replaced, and one that has expired.
    models.Hit.objects.filter(pk=tests[0].pk).update(is_free=False, status=HitStatus.OPEN)
    models.Hit.objects.filter(pk=tests[1].pk).update(
        status=HitStatus.OPEN, expires_at=database_now() - timedelta(seconds=1)
    )
    hits_plan(campaign=campaign)
    assert len(offered_tests(campaign, HitStatus.CREATING)) == 2


def test_no_tests_while_a_stage_is_paused_and_none_added_while_it_drains(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=5)
    a_test(campaign)
    hits_plan(campaign=campaign)
    models.Hit.objects.filter(kind=SittingKind.TEST).update(status=HitStatus.OPEN)
    supply_set(campaign=campaign, status=SupplyStatus.PAUSED)
    assert len(offered_tests(campaign, HitStatus.CLOSING)) == 2
    supply_set(campaign=campaign, status=SupplyStatus.DRAINING)
    assert len(offered_tests(campaign)) == 2
    supply_set(campaign=campaign, status=SupplyStatus.RUNNING)
    assert len(offered_tests(campaign, HitStatus.CREATING)) == 2


def test_tests_that_pay_leave_the_money_for_work(tmp_path: Path) -> None:
    campaign = supplied(
        tmp_path, images=5, test_price_cents=10, budget_cents=5000, daily_budget_cents=5000
    )
    a_test(campaign)
    hits_plan(campaign=campaign)
    assert [(hit.places, hit.held_cents) for hit in offered_tests(campaign)] == [(25, 250)] * 2
    # A budget that was cut takes tests back before it takes back work.
    models.Hit.objects.update(status=HitStatus.OPEN)
    crowd_change(campaign, daily_budget_cents=310)
    assert set(hits_plan(campaign=campaign).values()) == {Change()}
    assert offered_tests(campaign, HitStatus.CLOSING) == offered_tests(campaign)[1:]
    # What is on its way back is reckoned with: nothing more goes.
    hits_plan(campaign=campaign)
    assert len(offered_tests(campaign, HitStatus.CLOSING)) == 1
    close(offered_tests(campaign, HitStatus.CLOSING)[0])
    hits_plan(campaign=campaign)
    assert offered_tests(campaign, HitStatus.CREATING) == []


# Statements


@pytest.mark.parametrize("act", ["publish", "rest", "pause"])
def test_statements_do_not_depend_on_the_size_of_the_corpus(tmp_path: Path, act: str) -> None:
    counts = []
    for images in (40, 400):
        folder = tmp_path / str(images)
        folder.mkdir()
        models.Campaign.objects.filter(name="rides").update(name=f"before {images}")
        campaign = supplied(folder, images, hits_ceiling=dict.fromkeys(Stage, 4))
        if act != "publish":
            published(campaign)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            if act == "pause":
                supply_set(campaign=campaign, status=SupplyStatus.PAUSED)
            else:
                hits_plan(campaign=campaign)
        assert len(work_hits(campaign)) == 8
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 30


def test_a_stage_in_numbers_in_a_constant_few_statements(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=40)
    hits = published(campaign)
    opened(claim_of(campaign, hit_id=hits[0].hit_id))
    models.OpenQuestion.objects.filter(stage="links", pk__lt=_pk_of_question(6)).update(
        starved_at=database_now()
    )
    models.Image.objects.filter(name="image-39").update(file="")
    with CaptureQueriesContext(connection) as captured:
        rows = stage_supplies(campaign)
    assert [row.stage for row in rows] == list(Stage)
    links = rows[0]
    assert (links.open, links.leased, links.starved, links.without_photo) == (40, 10, 5, 1)
    assert (links.creating, links.waiting, links.at_work, links.tests) == (0, 4, 0, 0)
    assert len(captured) <= 7
