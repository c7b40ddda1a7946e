"""manage.py workers_invite: print a link that brings people to a campaign."""

import argparse
from typing import Any

from django.core.management.base import CommandError

from annotation.crowd.recruiters.recruiter import Link, Recruiter, RecruitingError
from annotation.crowd.recruiters.registry import recruiter
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.models import Campaign


class Command(DatabaseCommand):
    help = (
        "Invite people to work on a campaign, and print the link to send to them. The link cannot "
        "be printed again. CHAINBOX_RECRUITER names where people are invited; by default that is "
        "the marketplace. It must be running, and must allow our account to invite: "
        "manage.py marketplace_requester NAME --may-invite."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--places", type=int, metavar="N", default=1, help="people; default 1")
        parser.add_argument(
            "--days",
            type=int,
            metavar="N",
            default=14,
            help="how long it is valid; default 14",
        )
        parser.add_argument("--note", default="", help="what it is for; only you see it")
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument(
            "--open", action="store_true", help="print the link with which anybody can sign up"
        )
        instead.add_argument(
            "--list", action="store_true", help="list the invitations made so far, without links"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            source = recruiter()
            if options["list"]:
                self._list(source)
            elif options["open"]:
                self._links(source, campaign)
            else:
                self._print(
                    source.invite(
                        campaign,
                        places=options["places"],
                        days=options["days"],
                        note=options["note"],
                    )
                )
        except RecruitingError as error:
            raise CommandError(str(error)) from None

    def _links(self, source: Recruiter, campaign: Campaign) -> None:
        links = source.links(campaign)
        if not links:
            raise CommandError("Sign-up is not open to everybody there. Invite people instead.")
        for link in links:
            self._print(link)

    def _print(self, link: Link) -> None:
        # Standard output gets only the link, so that it can be piped.
        self.stdout.write(link.url)
        if link.places is not None:
            people = "one person" if link.places == 1 else f"{link.places} people"
            until = f", until {link.until:%Y-%m-%d %H:%M} UTC" if link.until else ""
            self.stderr.write(f"For {people}{until}. Keep the link: it is shown only once.")

    def _list(self, source: Recruiter) -> None:
        invitations = source.invitations()
        if not invitations:
            self.stdout.write("There are no invitations yet.")
        for one in invitations:
            until = f"until {one.expiration:%Y-%m-%d %H:%M} UTC" if one.expiration else "no end"
            self.stdout.write(f"{one.places_left:>6} places left  {until}  {one.note}")
