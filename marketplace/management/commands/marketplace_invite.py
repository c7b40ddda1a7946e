"""Print a link with which people can sign up as workers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.actions.workers import invitation_create
from marketplace.selectors.links import sign_up_link


class Command(BaseCommand):
    help = "Print a link that lets people sign up as workers on the marketplace."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--places", type=int, default=1, help="how many people may use it (default: 1)"
        )
        parser.add_argument("--days", type=int, help="how many days it is valid (default: forever)")
        parser.add_argument("--note", default="", help="what it is for; only you see it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the invitation and print its link, which cannot be shown again."""
        try:
            _, code = invitation_create(
                places=options["places"], days=options["days"], note=options["note"]
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(sign_up_link(code))
