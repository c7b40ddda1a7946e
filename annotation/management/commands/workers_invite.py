"""manage.py workers_invite: a link with which people come to work on a campaign."""

import argparse
from typing import Any

from django.core.management.base import CommandError

from annotation.crowd.recruiters.marketplace import MarketplaceRecruiter, marketplace_recruiter
from annotation.crowd.recruiters.recruiter import Link, RecruitingError
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.models import Campaign

# What the marketplace keeps of a note.
LONGEST_NOTE = 100


class Command(DatabaseCommand):
    help = (
        "Invite people to the marketplace that the settings name, and print the link to send to "
        "them. It cannot be printed a second time. The marketplace must be running, and must let "
        "us invite: manage.py marketplace_requester NAME --may-invite."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--places", type=int, metavar="N", default=1, help="people; default 1")
        parser.add_argument("--days", type=int, metavar="N", default=14, help="default 14")
        parser.add_argument("--note", default="", help="what it is for; only you see it")
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument(
            "--open", action="store_true", help="print the link by which anybody can sign up"
        )
        instead.add_argument(
            "--list", action="store_true", help="list the invitations made so far, without links"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            recruiter = marketplace_recruiter()
            if options["list"]:
                self._list(recruiter)
            elif options["open"]:
                self._links(recruiter, campaign)
            else:
                note = f"{campaign.name}: {options['note']}" if options["note"] else campaign.name
                self._tell(
                    recruiter.invite(
                        places=options["places"], days=options["days"], note=note[:LONGEST_NOTE]
                    )
                )
        except RecruitingError as error:
            raise CommandError(str(error)) from None

    def _links(self, recruiter: MarketplaceRecruiter, campaign: Campaign) -> None:
        links = recruiter.links(campaign)
        if not links:
            raise CommandError("Sign-up is not open to everybody there: invite people instead.")
        for link in links:
            self._tell(link)

    def _tell(self, link: Link) -> None:
        # The link alone on standard output, so that it can be passed on.
        self.stdout.write(link.url)
        if link.places is not None:
            people = "one person" if link.places == 1 else f"{link.places} people"
            until = f", until {link.until:%Y-%m-%d %H:%M} UTC" if link.until else ""
            self.stderr.write(f"For {people}{until}. It is shown this once.")

    def _list(self, recruiter: MarketplaceRecruiter) -> None:
        invitations = recruiter.invitations()
        if not invitations:
            self.stdout.write("There are no invitations yet.")
        for one in invitations:
            until = f"until {one.expiration:%Y-%m-%d %H:%M} UTC" if one.expiration else "no end"
            self.stdout.write(f"{one.places_left:>6} places left  {until}  {one.note}")
