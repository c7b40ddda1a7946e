"""The dashboard's pages: what they show, what they cost, and what they never let through."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import decision_record, judgments_record
from annotation.pipeline.protocol.facts import BoxDelete, Judgment, SendTo, Target
from annotation.pipeline.protocol.questions import Question, Stage
from tests.web.accounts import researcher
from tests.web.campaigns import HOSTILE, answer, image_named, small_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    """An account that may only view campaigns."""
    client.force_login(researcher())
    return client


def page(reader: Client, path: str) -> str:
    """Return the text of a page, with every run of white space as one space."""
    response = reader.get(path)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def without_tags(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def cells(html: str, row: str) -> list[str]:
    """Return the numbers of the table row with this heading."""
    found = re.search(rf"<th[^>]*>{row}</th>(.*?)</tr>", html)
    assert found, f"no row {row}"
    return re.findall(r'class="number"[^>]*>([^<]*)</td>', found[1])


def late(image: models.Image) -> None:
    """Answer a question of the image that was settled long ago."""
    worker = workers_simulated(count=20)[-1]
    question = Question(stage=Stage.LINKS, subject=(3, 1))
    outcome = judgments_record(
        image_id=image.pk, judgments=[Judgment(worker=worker, question=question, answer="no")]
    )
    assert outcome.recorded[0].counted is False


# Campaigns


def test_without_a_campaign_the_command_to_import_one_is_shown(reader: Client) -> None:
    text = without_tags(page(reader, "/"))
    assert "manage.py corpus_import PATH --campaign NAME --images DIR" in text


def test_campaigns_in_numbers(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b", "c"])
    given = answer(image_named(campaign, "a"))
    image_withdraw(image=image_named(campaign, "b"), reason="rights")
    campaign_create(name="nothing yet")
    html = page(reader, "/")
    assert html.index("nothing yet") < html.index("rides"), "the newest first"
    text = without_tags(html[html.index("rides") :])
    assert "50% finished" in text, "of the images that are still there"
    assert "Finished 1 In progress 1 Needs review 0 Withdrawn 1" in text
    assert f"Images 3 Judgments {len(given)} Chains 4 Accepted boxes 2" in text


# One campaign


def test_what_happened(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b"])
    given = answer(image_named(campaign, "a"))
    late(image_named(campaign, "a"))
    html = page(reader, f"/campaigns/{campaign.pk}/")
    links = sum(j.question.stage is Stage.LINKS for j in given)
    assert links == 1
    assert cells(html, "Coreference Links") == ["2", "1", "1", "2", "1"]
    everyone = {j.worker for j in given}
    assert cells(html, "All") == [
        str(len(given) + 1),
        str(len(given)),
        "1",
        str(len(everyone) + 1),
        str(models.OpenQuestion.objects.filter(campaign=campaign).count()),
    ]
    assert cells(html, "Complete, with boxes") == ["2"]
    text = without_tags(html)
    assert "answered no: “The guy” and “A man” do not refer to the same thing late" in text
    assert "Nothing is waiting for a reviewer." in text


def test_recent_facts_are_the_newest_of_all_images(reader: Client, tmp_path: Path) -> None:
    names = [f"image-{number:02}" for number in range(25)]
    campaign = small_campaign(tmp_path, names)
    for name in reversed(names):
        answer(image_named(campaign, name), limit=1)
    html = page(reader, f"/campaigns/{campaign.pk}/")
    assert re.findall(r'class="fact-about"[^>]*>([^<]*)<', html) == names[:20]


@pytest.mark.usefixtures("_empty_cache")
def test_a_large_campaign_is_not_counted_for_every_view(
    reader: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    given = answer(image_named(campaign, "a"))
    path = f"/campaigns/{campaign.pk}/"
    assert "Judgments as of" not in page(reader, path)
    monkeypatch.setattr("annotation.selectors.campaign.overview.FACTS_COUNTED_AT_ONCE", 5)
    for _ in range(2):
        html = page(reader, path)
        assert cells(html, "All")[0] == str(len(given)), "the second time from the cache"
        assert "Judgments as of" in html
        late(image_named(campaign, "a"))
    monkeypatch.undo()
    assert cells(page(reader, path), "All")[0] == str(len(given) + 1)


def test_bars_are_as_long_as_their_numbers(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b", "c", "d"])
    answer(image_named(campaign, "a"))
    html = page(reader, f"/campaigns/{campaign.pk}/")
    bar = re.search(r'<svg class="bar bar-progress".*?</svg>', html)
    assert bar
    assert 'class="fill-finished" x="0" width="250"' in bar[0]
    assert 'class="fill-open" x="250" width="750"' in bar[0]


def test_what_waits_for_review_and_why(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b", "c"])
    for name in ("a", "b"):
        send = SendTo(reviewer=0, chain=1, target=Target.REVIEW, reason="<b>odd</b>")
        decision_record(image_id=image_named(campaign, name).pk, decision=send)
    one, two = workers_simulated(count=2)
    for worker in (one, two):
        question = Question(stage=Stage.LINKS, subject=(3, 1))
        flag = Judgment(worker=worker, question=question, answer="yes", unrelated=(2,))
        judgments_record(image_id=image_named(campaign, "c").pk, judgments=[flag])
    html = page(reader, f"/campaigns/{campaign.pk}/")
    assert cells(html, "&lt;b&gt;odd&lt;/b&gt;") == ["2", "2"]
    assert cells(html, "A caption may not be about the photo") == ["–", "1"]
    assert "Chain 1: &lt;b&gt;odd&lt;/b&gt;" in html, "at the image"
    text = without_tags(page(reader, f"/campaigns/{campaign.pk}/images/c/"))
    assert "no questions are asked until a reviewer has decided" in text
    assert "reported that caption 2 is not about the photo" in text


def test_images_by_status_and_page(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [f"image-{number:02}" for number in range(30)])
    answer(image_named(campaign, "image-07"))
    path = f"/campaigns/{campaign.pk}/"

    def names(query: str) -> list[str]:
        return re.findall(
            r"/images/(image-\d+)/\">image", page(reader, path + query).split('id="images"')[1]
        )

    assert names("") == [f"image-{number:02}" for number in range(24)]
    assert names("?page=2") == [f"image-{number:02}" for number in range(24, 30)]
    assert names("?page=99") == names("?page=2")
    assert names("?page=nonsense") == names("")
    assert names("?status=finished") == ["image-07"]
    assert names("?status=review") == []
    assert names("?status=nonsense") == names("")
    assert len(names("?status=open&page=2")) == 5
    assert "?status=open&amp;page=1#images" in page(reader, path + "?status=open&page=2")
    text = without_tags(page(reader, path))
    assert "All 30 Finished 1 In progress 29 Needs review 0 Withdrawn 0" in text


# One image


def test_an_image(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    image = image_named(campaign, "a")
    given = answer(image)
    html = page(reader, f"/campaigns/{campaign.pk}/images/a/")
    assert 'viewBox="0 0 60 40"' in html
    # 1-based corners 5,6 to 24,35 are 20 × 30 pixels from 4,5.
    assert html.count('class="edge" x="4" y="5" width="20" height="30"') == 2
    first, second = re.findall(r'<mark class="mention chain-(\d)">(?:A man|The guy)<', html)
    assert first == second == "1"
    assert '<mark class="mention chain-2">a horse<' in html
    text = without_tags(html)
    assert "1 A man The guy people Complete, with boxes 1" in text
    assert (
        f"Worker {given[0].worker} answered yes: “The guy” and “A man” refer to the same thing"
        in text
    )
    assert "drew a box of 20 × 30 pixels for chain 1 (“The guy”)" in text
    assert "There are no open questions." in text


def test_only_one_chain_stands_out(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    answer(image_named(campaign, "a"))
    path = f"/campaigns/{campaign.pk}/images/a/"
    assert page(reader, path + "?chain=2").count('class="box chain-1 is-faded"') == 1
    for query in ("", "?chain=", "?chain=9", "?chain=x", "?chain=" + "9" * 5000):
        assert "is-faded" not in page(reader, path + query)


def test_an_image_that_is_being_worked_on(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    image = image_named(campaign, "a")
    path = f"/campaigns/{campaign.pk}/images/a/"
    html = page(reader, path)
    assert '<mark class="mention no-chain">The guy</mark>' in html
    assert "Do “The guy” and “A man” refer to the same thing?" in html
    answer(image, limit=3)
    assert " is-proposed" in page(reader, path), "drawn and not checked"


def test_boxes_that_were_deleted_are_not_drawn(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    image = image_named(campaign, "a")
    answer(image)
    decision_record(image_id=image.pk, decision=BoxDelete(reviewer=7, box=1))
    html = page(reader, f"/campaigns/{campaign.pk}/images/a/")
    assert html.count('class="edge"') == 1
    assert "Reviewer 7 deleted box 1 of chain 1 (“The guy”)" in html


def test_a_withdrawn_image_is_a_tombstone(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b"])
    image = image_named(campaign, "a")
    given = answer(image)
    image_withdraw(image=image, reason="the <i>owner</i> asked")
    html = page(reader, f"/campaigns/{campaign.pk}/images/a/")
    assert "This image was withdrawn" in html
    assert "the &lt;i&gt;owner&lt;/i&gt; asked" in html
    assert f"kept for statistics</dt><dd>{len(given)}</dd>" in html
    assert "guy" not in html
    assert "/photos/" not in html
    assert "Nothing has happened yet" in page(reader, f"/campaigns/{campaign.pk}/")


def test_captions_and_names_are_text(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a&lt;<b>"], name=HOSTILE)
    path = f"/campaigns/{campaign.pk}/"
    for at in ("/", path, path + f"images/{quote('a&lt;<b>')}/"):
        html = page(reader, at)
        assert "<script" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "a&amp;lt;&lt;b&gt;" in html


def test_nothing_that_the_content_policy_forbids(reader: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    answer(image_named(campaign, "a"))
    path = f"/campaigns/{campaign.pk}/"
    for at in ("/", path, path + "images/a/", "/accounts/login/"):
        html = reader.get(at).content.decode()
        assert not re.search(r"<style|<script|\sstyle=|\son\w+=|javascript:", html)


@pytest.mark.parametrize(
    "path",
    ["campaigns/999/", f"campaigns/{10**30}/", "campaigns/1/images/none/", "no/such/page"],
)
def test_what_is_not_there(reader: Client, path: str) -> None:
    response = reader.get(f"/{path}")
    assert response.status_code == 404
    assert b"Page not found" in response.content


# What pages cost


@pytest.mark.parametrize("size", [3, 40])
def test_statements_do_not_depend_on_the_size(
    reader: Client,
    tmp_path: Path,
    size: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    names = [f"image-{number:02}" for number in range(size)]
    campaign = small_campaign(tmp_path, names)
    for number in range(size // 8):
        campaign_create(name=f"other {number}")
    for place, name in enumerate(names):
        answer(image_named(campaign, name), limit=1 + place)
    path = f"/campaigns/{campaign.pk}/"
    reader.get("/")
    with django_assert_num_queries(9):
        reader.get("/")
    with django_assert_num_queries(16):
        reader.get(path)
    with django_assert_num_queries(16):
        reader.get(path + "?status=open")
    with django_assert_num_queries(8):
        reader.get(path + f"images/{names[1]}/")
