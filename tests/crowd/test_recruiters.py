"""Inviting workers to the real marketplace, over HTTP."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.crowd.recruiters import registry
from annotation.crowd.recruiters.marketplace import MarketplaceRecruiter, marketplace_recruiter
from annotation.crowd.recruiters.recruiter import Invitation as Made
from annotation.crowd.recruiters.recruiter import Link, RecruitingError
from marketplace.actions.requesters import requester_create, requester_let_invite
from marketplace.models import Invitation, Requester
from tests.services import free_port
from tests.web.campaigns import small_campaign


@pytest.fixture
def requester(transactional_db: None) -> Requester:
    requester = requester_create(name="chainbox")
    requester_let_invite(requester=requester, may_invite=True)
    return requester


@pytest.fixture
def recruiter(
    live_server: LiveServer, requester: Requester, settings: Settings
) -> MarketplaceRecruiter:
    key = requester.keys.get()
    settings.MARKETPLACE_URL = settings.CHAINBOX_CROWD_ENDPOINT = (
        f"{live_server.url}/marketplace/api"
    )
    settings.CHAINBOX_CROWD_KEY_ID, settings.CHAINBOX_CROWD_SECRET = key.key_id, key.secret
    return marketplace_recruiter()


@pytest.fixture
def campaign(tmp_path: Path, transactional_db: None) -> models.Campaign:
    return small_campaign(tmp_path, ["first"])


def invite(*arguments: str) -> str:
    out = StringIO()
    call_command("workers_invite", "--campaign", "rides", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.usefixtures("recruiter")
def test_the_marketplace_is_the_recruiter_in_use() -> None:
    found = registry.recruiter()
    assert isinstance(found, MarketplaceRecruiter)
    assert found.name == "marketplace"
    assert found.name in registry.RECRUITERS


def test_an_invitations_link_leads_to_its_sign_up(
    recruiter: MarketplaceRecruiter,
    campaign: models.Campaign,
    settings: Settings,
    live_server: LiveServer,
) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = False
    link = recruiter.invite(campaign, places=3, days=2, note="people – ünïcode")
    assert link.places == 3
    made = Invitation.objects.get()
    assert link.until is not None
    assert made.expires_at is not None
    assert abs((link.until - made.expires_at).total_seconds()) < 0.01
    assert made.note == "rides: people – ünïcode"
    page = Client().get(link.url.removeprefix(live_server.url))
    assert page.status_code == 200
    assert b"password_again" in page.content


def test_the_open_link_is_given_where_anybody_may_come(
    recruiter: MarketplaceRecruiter, campaign: models.Campaign, settings: Settings
) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = True
    (link,) = recruiter.links(campaign)
    assert link.url.endswith("/marketplace/sign-up/")
    settings.MARKETPLACE_OPEN_SIGN_UP = False
    assert recruiter.links(campaign) == ()


def test_all_pages_of_invitations_are_read(
    recruiter: MarketplaceRecruiter, requester: Requester
) -> None:
    Invitation.objects.bulk_create(
        Invitation(code_hash=f"{number}", requester=requester, note=f"{number}", places=number)
        for number in range(230)
    )
    found = recruiter.invitations()
    assert [one.places_left for one in found] == list(range(229, -1, -1))
    assert found[0].expiration is None


def test_who_may_not_invite_is_told(
    recruiter: MarketplaceRecruiter, requester: Requester, campaign: models.Campaign
) -> None:
    requester_let_invite(requester=requester, may_invite=False)
    for ask in (
        lambda: recruiter.invite(campaign, places=1, days=1, note=""),
        lambda: recruiter.links(campaign),
        recruiter.invitations,
    ):
        with pytest.raises(RecruitingError, match="may not invite workers"):
            ask()
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(("places", "days"), [(0, 1), (1, 0), (1, 366), (10**6, 1), (2**40, 1)])
def test_what_makes_no_sense_is_refused(
    recruiter: MarketplaceRecruiter, campaign: models.Campaign, places: int, days: int
) -> None:
    with pytest.raises(RecruitingError, match="refused it"):
        recruiter.invite(campaign, places=places, days=days, note="")
    assert not Invitation.objects.exists()


def test_a_wrong_secret_is_told(recruiter: MarketplaceRecruiter, settings: Settings) -> None:
    settings.CHAINBOX_CROWD_SECRET = "0" * 40
    with pytest.raises(RecruitingError, match="signature"):
        marketplace_recruiter().invitations()


def test_nobody_answers(settings: Settings) -> None:
    settings.CHAINBOX_CROWD_ENDPOINT = f"http://127.0.0.1:{free_port()}/marketplace/api"
    settings.CHAINBOX_CROWD_KEY_ID = "AKIA"
    with pytest.raises(RecruitingError, match="cannot be reached"):
        marketplace_recruiter().invitations()


def test_another_site_answers(recruiter: MarketplaceRecruiter, settings: Settings) -> None:
    settings.CHAINBOX_CROWD_ENDPOINT = settings.CHAINBOX_CROWD_ENDPOINT.replace(
        "/marketplace/api", "/healthz"
    )
    with pytest.raises(RecruitingError):
        marketplace_recruiter().invitations()


# The command


@pytest.mark.usefixtures("recruiter", "campaign")
def test_the_command_prints_the_link_alone() -> None:
    printed = invite("--places", "30", "--days", "14", "--note", "spring term")
    assert printed.count("\n") == 1
    assert "/marketplace/sign-up/?code=" in printed
    made = Invitation.objects.get()
    assert (made.places, made.note) == (30, "rides: spring term")
    listed = invite("--list")
    assert "30 places left" in listed
    assert "spring term" in listed
    assert invite("--open").strip().endswith("/marketplace/sign-up/")


@pytest.mark.usefixtures("campaign")
def test_the_command_says_what_is_missing(settings: Settings) -> None:
    settings.CHAINBOX_CROWD_ENDPOINT = ""
    with pytest.raises(CommandError, match="CHAINBOX_CROWD_ENDPOINT"):
        invite()


@pytest.mark.usefixtures("recruiter", "campaign")
def test_the_command_needs_a_campaign_and_a_fitting_number() -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("workers_invite", "--campaign", "nowhere")
    with pytest.raises(CommandError, match="'places'"):
        invite("--places", "0")


# Another recruiter


class Leaflets:
    """A recruiter that hands out leaflets: shows what adding a recruiter takes."""

    name = "leaflets"

    def __init__(self) -> None:
        self.made: list[Made] = []

    def links(self, campaign: models.Campaign) -> tuple[Link, ...]:
        return (Link(url=f"https://leaflets.example/{campaign.name}"),)

    def invite(self, campaign: models.Campaign, *, places: int, days: int, note: str) -> Link:
        self.made.insert(0, Made(places_left=places, note=note))
        return Link(url=f"https://leaflets.example/{places}/{days}")

    def invitations(self) -> list[Made]:
        return self.made


@pytest.mark.usefixtures("campaign")
def test_another_recruiter_is_one_line_in_the_registry(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaflets = Leaflets()
    monkeypatch.setitem(registry.RECRUITERS, "leaflets", lambda: leaflets)
    settings.CHAINBOX_RECRUITER = "leaflets"
    # No marketplace has to be there.
    settings.CHAINBOX_CROWD_ENDPOINT = ""
    assert invite("--list") == "There are no invitations yet.\n"
    assert invite("--open") == "https://leaflets.example/rides\n"
    assert invite("--places", "30", "--days", "7", "--note", "park") == (
        "https://leaflets.example/30/7\n"
    )
    assert "30 places left" in invite("--list")
    assert "park" in invite("--list")


@pytest.mark.usefixtures("campaign")
def test_a_recruiter_that_there_is_not_is_told(settings: Settings) -> None:
    settings.CHAINBOX_RECRUITER = "pigeons"
    with pytest.raises(CommandError, match=r"no recruiter 'pigeons'.*: marketplace"):
        invite()
