"""Listings cost the same no matter how long they are; group ids."""

from datetime import timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from common.clock import database_now
from marketplace.actions.assignments import assignment_accept, assignment_submit
from marketplace.api.operations import OPERATIONS
from marketplace.models import HIT, Assignment, QualificationType, Requester, WorkerBlock
from marketplace.rules.groups import group_id, hit_type_id_of
from marketplace.rules.ids import thing_id
from tests.marketplace.people import make_hit, make_requester, make_worker


@pytest.mark.django_db
@pytest.mark.parametrize("length", [1, 12])
def test_statements_do_not_grow_with_the_page(
    length: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    requester = make_requester()
    work = make_hit(requester, assignments=length)
    for number in range(length):
        worker = make_worker()
        assignment = assignment_accept(hit_id=work.pk, worker=worker)
        assignment_submit(assignment=assignment, answer="<QuestionFormAnswers/>")
        make_hit(requester)
        QualificationType.objects.create(requester=requester, name=str(number), description="d")
        WorkerBlock.objects.create(requester=requester, worker=worker, reason="r")

    def statements(name: str, count: int, **params: Any) -> None:
        _call(requester, name, params)  # what is asked once only has been asked
        with django_assert_num_queries(count):
            _call(requester, name, params)

    statements("ListHITs", 3)
    statements("ListReviewableHITs", 4)
    statements("ListHITsForQualificationType", 1, QualificationTypeId="00000000000000000040")
    statements("ListAssignmentsForHIT", 4, HITId=work.hit_id)
    statements("ListQualificationTypes", 1, MustBeRequestable=False)
    statements("ListWorkerBlocks", 1)
    statements("ListQualificationRequests", 1)


@pytest.mark.django_db
def test_one_hit_is_up_to_date_without_a_sweeper() -> None:
    requester = make_requester()
    hit = make_hit(requester)
    worker = make_worker()
    assignment_accept(hit_id=hit.pk, worker=worker)
    past = database_now() - timedelta(seconds=1)
    HIT.objects.update(expires_at=past)
    _call(requester, "GetHIT", {"HITId": hit.hit_id})
    assert HIT.objects.get().status == "Unassignable"
    Assignment.objects.update(deadline=past, due_at=past)
    _call(requester, "UpdateHITReviewStatus", {"HITId": hit.hit_id})
    assert HIT.objects.get().status == "Reviewing"
    other = make_hit(requester)
    HIT.objects.filter(pk=other.pk).update(expires_at=past)
    _call(requester, "UpdateHITReviewStatus", {"HITId": other.hit_id})
    other.refresh_from_db()
    assert other.status == "Reviewing"


def _call(requester: Requester, name: str, params: dict[str, Any]) -> None:
    OPERATIONS[name](requester, params | {"MaxResults": 100})


def test_group_ids_lead_back_to_their_types() -> None:
    for _ in range(50):
        number = thing_id()
        assert group_id(number) != number
        assert len(group_id(number)) == 30
        assert hit_type_id_of(group_id(number)) == number
    assert hit_type_id_of("../etc") is None
    assert hit_type_id_of("") is None
