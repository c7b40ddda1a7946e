"""The guides' pages: what they show, who may save, and that nothing typed is lost."""

import html
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.work.guides import guide_save
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.guides import shipped_source
from annotation.selectors.work.guides import TOPICS, guide_current
from config.demo.accounts import DEMO_ACCOUNTS, ensure_demo_accounts
from tests.web.accounts import researcher
from tests.web.campaigns import image_named, small_campaign
from tests.web.work.test_guides import CONSENT, LESSON

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first"])


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(researcher())
    return client


@pytest.fixture
def editor() -> Client:
    account = User.objects.create_user("editor")
    account.user_permissions.add(
        *Permission.objects.filter(
            content_type__app_label="annotation", codename__in=["view_campaign", "change_campaign"]
        )
    )
    client = Client()
    client.force_login(account)
    return client


def address(campaign: models.Campaign, topic: str = "") -> str:
    return f"/campaigns/{campaign.pk}/guides/" + (f"{topic}/" if topic else "")


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def typed(page: str) -> str:
    """Return the content of the text field, as a browser reads it."""
    found = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.DOTALL)
    assert found
    return html.unescape(found[1])


def seen(page: str) -> str:
    found = re.search(r'name="seen" value="(\d*)"', page)
    assert found
    return found[1]


def row_of(page: str, name: str) -> str:
    found = re.search(rf"<tr>(?:(?!</tr>).)*?>{name}</a>.*?</tr>", page, re.DOTALL)
    assert found, f"no row {name}"
    return text_of(found[0])


def test_the_campaigns_page_leads_there(reader: Client, campaign: models.Campaign) -> None:
    page = reader.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert f'href="{address(campaign)}"' in page


def test_all_topics_are_listed(reader: Client, campaign: models.Campaign) -> None:
    guide_save(campaign=campaign, topic="links", source="# old\n")
    guide_save(
        campaign=campaign, topic="links", source=LESSON * 2 + LESSON.replace("test", "examples")
    )
    page = reader.get(address(campaign)).content.decode()
    assert re.search(r" 2 .* 1 2 ", row_of(page, "Coreference Links"))
    assert "shipped text 0 0" in row_of(page, "Box Quality")
    assert "No test questions yet" in row_of(page, "Box Quality")
    assert "No test questions yet" not in row_of(page, "Coreference Links")
    assert "shipped text – –" in row_of(page, "Consent text")
    for topic in TOPICS:
        assert f'href="{address(campaign, topic)}"' in page


@pytest.mark.parametrize("stage", Stage)
def test_as_workers_see_it(reader: Client, campaign: models.Campaign, stage: Stage) -> None:
    for path in (address(campaign), address(campaign, stage)):
        page = reader.get(path).content.decode()
        for shown in (f"/hits/{campaign.pk}/{stage}/", f"/hits/{campaign.pk}/{stage}/examples/"):
            assert f'href="{shown}"' in page
            assert reader.get(shown).status_code == 200


def test_lessons_whose_photo_is_gone_are_named(reader: Client, campaign: models.Campaign) -> None:
    guide_save(campaign=campaign, topic="links", source=LESSON)
    assert "photo is gone" not in reader.get(address(campaign)).content.decode()
    image_withdraw(image=image_named(campaign, "first"), reason="asked for")
    page = reader.get(address(campaign)).content.decode()
    assert "the photo is gone: test question 1 (first)" in row_of(page, "Coreference Links")


def test_what_the_list_costs(
    reader: Client, campaign: models.Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for topic in TOPICS:
        guide_save(campaign=campaign, topic=topic, source=shipped_source(topic))
    guide_save(campaign=campaign, topic="links", source=LESSON * 30)
    # Session, account, its two kinds of permissions, campaign; guides, images, captions.
    with django_assert_num_queries(8):
        reader.get(address(campaign))


def test_the_text_comes_as_it_was_saved(editor: Client, campaign: models.Campaign) -> None:
    page = editor.get(address(campaign, "consent")).content.decode()
    assert typed(page) == shipped_source("consent")
    assert seen(page) == "0"
    tricky = f"\n# </textarea><script>alert(1)</script> & “quotes” \\ ' \"\n\n{CONSENT}\n\n"
    guide_save(campaign=campaign, topic="consent", source=tricky)
    page = editor.get(address(campaign, "consent")).content.decode()
    assert typed(page) == tricky
    assert seen(page) == "1"
    assert "<script>alert" not in page


@pytest.mark.parametrize("topic", TOPICS)
def test_saving(editor: Client, campaign: models.Campaign, topic: str) -> None:
    source = shipped_source(topic) + "# mine\n"
    sent = {"source": source.replace("\n", "\r\n"), "seen": "0"}
    response = editor.post(address(campaign, topic), sent, follow=True)
    assert response.redirect_chain == [(address(campaign, topic), 302)]
    page = response.content.decode()
    assert "Saved as version 1." in page
    assert typed(page) == source
    row = guide_current(campaign, topic)
    assert row is not None
    assert (row.version, row.source) == (1, source)
    page = editor.post(address(campaign, topic), sent, follow=True).content.decode()
    assert "Nothing to save: your text is the same as version 1." in page
    assert models.Guide.objects.count() == 1


def test_problems_are_told_and_nothing_typed_is_lost(
    editor: Client, campaign: models.Campaign
) -> None:
    bad = LESSON.replace("a man", "<b>a woman</b>") + LESSON.replace('"yes"', '"maybe"')
    for source, said in {
        bad: "Test question 2: 'maybe' is not an answer of this stage; use one of: yes, no",
        bad.replace("maybe", "no"): "Test question 1: caption 1 of 'first' does not contain "
        "'<b>a woman</b>', or only",
    }.items():
        response = editor.post(address(campaign, "links"), {"source": source, "seen": "0"})
        assert response.status_code == 422
        page = response.content.decode()
        assert said in text_of(page)
        assert "<b>a woman" not in page
        assert typed(page) == source
        assert seen(page) == "0"
    assert models.Guide.objects.count() == 0


def test_somebody_else_was_faster(editor: Client, campaign: models.Campaign) -> None:
    guide_save(campaign=campaign, topic="links", source="# first\n")
    guide_save(campaign=campaign, topic="links", source="# theirs\n")
    response = editor.post(address(campaign, "links"), {"source": "# mine\n", "seen": "1"})
    assert response.status_code == 409
    page = response.content.decode()
    assert "somebody else saved version 2 at" in text_of(page)
    assert "# theirs" in text_of(page)
    assert typed(page) == "# mine\n"
    assert models.Guide.objects.count() == 2
    # A problem in the text must not hide that.
    response = editor.post(address(campaign, "links"), {"source": "title = 1", "seen": "1"})
    assert (response.status_code, seen(response.content.decode())) == (422, "1")
    # Whoever saves again knows.
    editor.post(address(campaign, "links"), {"source": "# mine\n", "seen": seen(page)})
    row = guide_current(campaign, "links")
    assert row is not None
    assert (row.version, row.source) == (3, "# mine\n")


@pytest.mark.parametrize("missing", [{}, {"source": "# x\n"}, {"source": "# x\n", "seen": "²"}])
def test_a_form_that_is_not_ours(
    editor: Client, campaign: models.Campaign, missing: dict[str, str]
) -> None:
    guide_save(campaign=campaign, topic="links", source="# first\n")
    assert editor.post(address(campaign, "links"), missing).status_code == 409
    assert models.Guide.objects.count() == 1


def test_who_may_only_look_cannot_save(reader: Client, campaign: models.Campaign) -> None:
    page = reader.get(address(campaign, "links")).content.decode()
    assert "readonly" in page
    assert ">Save<" not in page
    sent = {"source": "# mine\n", "seen": "0"}
    assert reader.post(address(campaign, "links"), sent).status_code == 403
    assert Client().post(address(campaign, "links"), sent).status_code == 302
    worker = Client()
    worker.force_login(User.objects.create_user("worker"))
    assert worker.post(address(campaign, "links"), sent).status_code == 403
    assert models.Guide.objects.count() == 0


def test_a_foreign_site_cannot_save(campaign: models.Campaign) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("chief"))
    response = strict.post(address(campaign, "links"), {"source": "# mine\n", "seen": "0"})
    assert response.status_code == 403
    assert models.Guide.objects.count() == 0


def test_what_is_not_there(editor: Client, campaign: models.Campaign) -> None:
    assert editor.get(address(campaign, "lynx")).status_code == 404
    assert editor.get("/campaigns/999999/guides/").status_code == 404
    assert editor.get("/campaigns/999999/guides/links/").status_code == 404
    assert editor.post(address(campaign)).status_code == 405


def test_the_demo_researcher_may_edit(campaign: models.Campaign) -> None:
    # An account from before guides could be edited gets the permission too.
    User.objects.create_user("researcher", password=DEMO_ACCOUNTS[1].password)
    ensure_demo_accounts()
    client = Client()
    assert client.login(username="researcher", password=DEMO_ACCOUNTS[1].password)
    page = client.get(address(campaign, "links")).content.decode()
    assert ">Save<" in page


@pytest.mark.parametrize("nonsense", ["", "-1", "one", "9" * 5000])
def test_a_version_that_nobody_could_have_seen_is_not_the_current_one(
    editor: Client, campaign: models.Campaign, nonsense: str
) -> None:
    guide_save(campaign=campaign, topic="links", source="# theirs\n")
    response = editor.post(address(campaign, "links"), {"source": "# mine\n", "seen": nonsense})
    assert response.status_code == 409
