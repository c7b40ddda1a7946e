"""The HIT groups that a worker can find, and those that are hidden."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from common.clock import database_now
from marketplace.models import Qualification, QualificationType, WorkerBlock
from marketplace.rules.qualifications import ADULT, LOCALE, PERCENT_ASSIGNMENTS_APPROVED
from marketplace.rules.words import duration_words, requirement_words
from marketplace.selectors.browse import Filter, groups_found
from tests.marketplace.people import make_requester
from tests.marketplace.site import accepted, new_hit, new_worker, page, signed_in, words

pytestmark = pytest.mark.django_db


def german(guarded: str = "Accept") -> dict[str, Any]:
    return {
        "QualificationTypeId": LOCALE,
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "DE"}],
        "ActionsGuarded": guarded,
    }


def test_groups_with_what_they_offer() -> None:
    requester = make_requester()
    for _ in range(3):
        hit = new_hit(requester, title="Find the dog", reward=25, requirements=[german()])
    worker = new_worker()
    text = words(page(signed_in(worker), "/marketplace/"))
    for part in ("Find the dog", "$0.25", "3 HITs", "10 minutes", requester.name):
        assert part in text
    assert "Location is Germany (met)" in text
    assert "You qualify" in text
    accepted(signed_in(worker), hit)
    assert "2 HITs" in words(page(signed_in(worker), "/marketplace/"))


def test_filters_and_orders() -> None:
    requester = make_requester()
    new_hit(requester, title="cheap cats", reward=1)
    for _ in range(3):
        new_hit(requester, title="many dogs", reward=5, keywords="zebra")
    new_hit(requester, title="dear horses", reward=200, requirements=[german()])
    worker = new_worker(country="FR")

    def titles(**wanted: Any) -> list[str]:
        return [group.hit_type.title for group in groups_found(worker, Filter(**wanted))]

    assert titles() == ["dear horses", "many dogs", "cheap cats"]
    assert titles(sort="most")[0] == "many dogs"
    assert titles(sort="reward") == ["dear horses", "many dogs", "cheap cats"]
    assert titles(text="ZEBRA dogs") == ["many dogs"]
    assert titles(text="zebra cats") == []
    assert titles(minimum_cents=5, sort="reward") == ["dear horses", "many dogs"]
    assert titles(qualified_only=True) == ["many dogs", "cheap cats"]
    html = page(signed_in(worker), "/marketplace/?reward=0.05&sort=reward&qualified=on&text=o")
    assert "many dogs" in html
    assert "dear horses" not in html
    # Nonsense is passed over.
    assert "cheap cats" in page(signed_in(worker), "/marketplace/?reward=x&sort=y&page=-3")


def test_what_guards_what() -> None:
    requester = make_requester()
    made = {
        guarded: new_hit(requester, title=f"guards {guarded}", requirements=[german(guarded)])
        for guarded in ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
    }
    client = signed_in(new_worker(country="FR"))
    html = page(client, "/marketplace/")
    assert "guards Accept" in html
    assert "guards PreviewAndAccept" in html
    assert "guards Discover" not in html
    paths = {k: f"/marketplace/groups/{hit.hit_type.hit_type_id}/" for k, hit in made.items()}
    assert "<iframe" in page(client, paths["Accept"])
    assert "<iframe" not in page(client, paths["PreviewAndAccept"])
    page(client, paths["DiscoverPreviewAndAccept"], 404)
    for path in paths.values():
        assert "Accept and work" not in client.get(path).content.decode()
        client.post(path + "accept/")
    assert not any(hit.assignments.exists() for hit in made.values())


def test_a_block_hides_the_requester_s_hits() -> None:
    worker, requester = new_worker(), make_requester()
    hit = new_hit(requester, title="not for you")
    WorkerBlock.objects.create(worker=worker, requester=requester, reason="x")
    client = signed_in(worker)
    assert "not for you" not in page(client, "/marketplace/")
    page(client, f"/marketplace/groups/{hit.hit_type.hit_type_id}/", 404)
    client.post(f"/marketplace/groups/{hit.hit_type.hit_type_id}/accept/")
    assert not hit.assignments.exists()


def test_a_missing_qualification_can_be_asked_for() -> None:
    worker, requester = new_worker(), make_requester()
    kind = QualificationType.objects.create(requester=requester, name="Dogs", description="x")
    wanted = {
        "QualificationTypeId": kind.qualification_type_id,
        "Comparator": "GreaterThan",
        "IntegerValues": [3],
    }
    hit = new_hit(requester, requirements=[wanted])
    path = f"/marketplace/groups/{hit.hit_type.hit_type_id}/"
    client = signed_in(worker)
    html = page(client, path)
    assert "Dogs is greater than 3 (not met)" in words(html)
    assert f'href="/marketplace/qualifications/{kind.qualification_type_id}/"' in html
    Qualification.objects.create(
        qualification_type=kind, worker=worker, value=4, granted_at=database_now()
    )
    assert "Accept and work" in page(client, path)


@pytest.mark.parametrize("groups", [2, 30])
def test_statements_do_not_depend_on_the_size(
    groups: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    requester = make_requester()
    for number in range(groups):
        kind = QualificationType.objects.create(
            requester=requester, name=f"kind {number}", description="x"
        )
        wanted = {"QualificationTypeId": kind.qualification_type_id, "Comparator": "DoesNotExist"}
        new_hit(requester, title=f"group {number}", requirements=[german(), wanted])
    client = signed_in(new_worker())
    page(client, "/marketplace/")
    with django_assert_num_queries(11):
        page(client, "/marketplace/")
    if groups > 25:
        assert "group 0" in page(client, "/marketplace/?page=2")


def test_requirements_in_words() -> None:
    percent = {
        "QualificationTypeId": PERCENT_ASSIGNMENTS_APPROVED,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [95],
    }
    assert requirement_words(percent, {}) == "Percent of assignments approved is at least 95"
    adult = {"QualificationTypeId": ADULT, "Comparator": "EqualTo", "IntegerValues": [1]}
    assert requirement_words(adult, {}) == "You accept work with adult content"
    gone = {"QualificationTypeId": "3X", "Comparator": "Exists"}
    assert requirement_words(gone, {}) == "A qualification no longer offered has been granted"
    assert requirement_words(gone, {"3X": "Dogs"}) == "Dogs has been granted"
    assert duration_words(90_061) == "1 day 1 hour"
    assert duration_words(61) == "1 minute 1 second"
