"""Many workers at once: no question is leased twice, none is lost, and nobody waits for ever."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Event
from typing import Any, TypeVar

import pytest
from django.db import connection, transaction

from annotation.actions.work.answers import draft_save, sitting_finish
from annotation.actions.work.confirmations import sitting_confirm
from annotation.actions.work.leases import sittings_lapse
from annotation.actions.work.sittings import Opened, SittingRefusedError, sitting_open
from annotation.models import Fact, Image, OpenQuestion, Sitting, SittingQuestion, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import agree, all_answers, an_answer, claim_of, keys, opened

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

THREADS = 12
T = TypeVar("T")


def at_once(work: Callable[[Claim], T], claims: list[Claim]) -> list[T]:
    """Do the same for all claims, each in a thread and a connection of its own."""
    start = Barrier(len(claims))

    def one(claim: Claim) -> T:
        try:
            start.wait()
            return work(claim)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(claims)) as pool:
        return list(pool.map(one, claims))


def live_leases() -> list[tuple[int, str]]:
    return list(SittingQuestion.objects.filter(released_at=None).values_list("image_id", "key"))


@pytest.mark.parametrize("images", [12 * 10, 47])
def test_workers_who_open_at_once_get_different_questions(tmp_path: Path, images: int) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(images)])
    claims = [claim_of(campaign, worker=f"A{number}") for number in range(THREADS)]
    for claim in claims:
        agree(claim)
    results = at_once(lambda claim: sitting_open(claim=claim), claims)
    sittings = [result.sitting for result in results if result.sitting is not None]
    assert len(live_leases()) == len(set(live_leases()))
    taken = [key for sitting in sittings for key in keys(sitting)]
    assert sorted(taken) == sorted(live_leases())
    assert len(set(taken)) == images, "nothing is left over while somebody went without"
    assert {result.empty for result in results if result.sitting is None} <= {"with_others"}
    if images == THREADS * 10:
        assert [len(keys(sitting)) for sitting in sittings] == [10] * THREADS


def test_who_comes_second_gets_as_many_of_what_is_left(tmp_path: Path) -> None:
    """Some of what a worker has chosen is another's when it is to be leased."""
    campaign = small_campaign(tmp_path, [str(number) for number in range(30)])
    claim = claim_of(campaign)
    agree(claim)
    quicker = [
        SittingQuestion(image_id=row.image_id, key=row.key, number=number, shown="")
        for number, row in enumerate(
            OpenQuestion.objects.filter(stage="links").order_by("pk")[1:10:2], start=1
        )
    ]
    sitting = opened(claim_of(campaign, worker="A2"))
    sitting.questions.all().delete()
    for row in quicker:
        row.sitting = sitting

    def lease_while_reading(execute: Any, sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if "SKIP LOCKED" in sql and quicker:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(lease).result()
        return result

    def lease() -> None:
        try:
            SittingQuestion.objects.bulk_create(quicker)
            quicker.clear()
        finally:
            connection.close()

    with connection.execute_wrapper(lease_while_reading):
        taken = sitting_open(claim=claim).sitting
    assert taken is not None
    assert not quicker
    assert len(keys(taken)) == 10
    # In the places of those that are gone: at the end all would know that they are no checks.
    numbers = taken.questions.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, 11))


def test_what_others_are_choosing_at_this_moment_is_with_others(tmp_path: Path) -> None:
    claim = claim_of(small_campaign(tmp_path, ["a", "b"]))
    agree(claim)
    chosen, answered = Event(), Event()

    def choose() -> None:
        with transaction.atomic():
            assert list(OpenQuestion.objects.select_for_update())
            chosen.set()
            answered.wait()
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(choose)
        chosen.wait()
        try:
            result = sitting_open(claim=claim)
        finally:
            answered.set()
        other.result()
    assert (result.sitting, result.empty) == (None, "with_others")


def test_what_is_given_back_at_this_moment_is_not_nothing(tmp_path: Path) -> None:
    """A question that goes from leased to free between two looks is still there."""
    campaign = small_campaign(tmp_path, ["a"])
    holder = opened(claim_of(campaign))
    claim = claim_of(campaign, worker="A2")
    agree(claim)
    given_back: list[int] = []

    def give_back_after_the_first_look(execute: Any, sql: str, *rest: Any) -> Any:
        result = execute(sql, *rest)
        if '"annotation_openquestion"' in sql and "SKIP LOCKED" not in sql and not given_back:
            with ThreadPoolExecutor(1) as pool:
                given_back.append(pool.submit(give_back).result())
        return result

    def give_back() -> int:
        try:
            return sittings_lapse(sittings=Sitting.objects.filter(pk=holder.pk))
        finally:
            connection.close()

    with connection.execute_wrapper(give_back_after_the_first_look):
        result = sitting_open(claim=claim)
    assert given_back == [1]
    assert (result.sitting, result.empty) == (None, "with_others")


def test_one_worker_who_opens_many_times_at_once_has_one_sitting(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(40)])
    claim = claim_of(campaign)
    agree(claim)
    results = at_once(lambda claim: sitting_open(claim=claim), [claim] * THREADS)
    assert len({result.sitting.pk for result in results if result.sitting}) == 1
    assert all(result.sitting is not None for result in results)
    assert len(live_leases()) == 10


def test_expired_questions_go_to_exactly_one_other(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(30)])
    for number in range(3):
        opened(claim_of(campaign, worker=f"gone-{number}"))
    Sitting.objects.update(until=database_now() - timedelta(seconds=1))
    claims = [claim_of(campaign, worker=f"A{number}") for number in range(THREADS)]
    for claim in claims:
        agree(claim)
    results = at_once(lambda claim: sitting_open(claim=claim), claims)
    taken = [key for result in results if result.sitting for key in keys(result.sitting)]
    assert len(taken) == len(set(taken)) == 30
    assert Sitting.objects.filter(status=SittingStatus.LAPSED).count() == 3


def test_the_first_of_many_finishes_stands(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b"])
    claim = claim_of(campaign)
    sitting = opened(claim)
    answers = all_answers(sitting)
    payloads = iter(
        [answers | {1: an_answer(Stage.LINKS, milliseconds=n % 3)} for n in range(THREADS)]
    )

    def finish(claim: Claim) -> str:
        try:
            return sitting_finish(claim=claim, answers=next(payloads)).digest
        except SittingRefusedError as error:
            return error.trouble.value

    results = at_once(finish, [claim] * THREADS)
    sitting.refresh_from_db()
    assert set(results) == {sitting.digest, "finished"}
    assert results.count("finished") == 8, "of three different payloads one stands"


def test_drafts_and_a_finish_at_once_leave_what_was_finished(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b"])
    claim = claim_of(campaign)
    sitting = opened(claim)
    final = all_answers(sitting, answer="no")
    turns = iter(range(THREADS))

    def work(claim: Claim) -> str:
        if next(turns) == THREADS // 2:
            return sitting_finish(claim=claim, answers=final).status
        try:
            draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS))
        except SittingRefusedError as error:
            return error.trouble.value
        return "saved"

    results = at_once(work, [claim] * THREADS)
    assert results.count("finished") >= 1
    assert '"no"' in sitting.questions.get(number=1).answer


def test_confirming_many_times_at_once_records_once_while_others_open(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(10)])
    claim = claim_of(campaign)
    sitting = opened(claim)
    finished = sitting_finish(claim=claim, answers=all_answers(sitting))
    others = [claim_of(campaign, Stage.VERIFICATION, f"A{n}") for n in range(2, 2 + THREADS // 2)]
    for other in others:
        agree(other)

    def work(claim: Claim) -> Opened | int:
        if claim.stage is Stage.VERIFICATION:
            return sitting_open(claim=claim)
        return sitting_confirm(sitting=finished).counted

    results = at_once(work, [claim] * (THREADS // 2) + others)
    assert [result for result in results if isinstance(result, int)] == [10] * (THREADS // 2)
    assert Fact.objects.count() == 10
    leases = live_leases()
    assert len(leases) == len(set(leases)) <= 10
    assert OpenQuestion.objects.filter(stage="verification").count() == 10
    settings = settings_by_id()
    for checked in images_with_facts(Image.objects.all()):
        assert image_differences(checked, settings) == []
