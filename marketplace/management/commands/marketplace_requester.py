"""manage.py marketplace_requester: create a requester, or show how to connect as one."""

import argparse
import uuid
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, DjangoHelpFormatter
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from marketplace.actions.ledger import funds_add
from marketplace.actions.requesters import (
    access_key_issue,
    access_key_revoke,
    requester_create,
    requester_let_invite,
)
from marketplace.models import Account, AccountKind, Requester
from marketplace.rules.errors import RequestError
from marketplace.rules.money import cents, dollars

# A larger amount is probably a typing error.
MOST_CENTS = 100_000_000_000

EXAMPLES = """
examples:
  manage.py marketplace_requester lab --funds 100.00   create it, with money to spend
  manage.py marketplace_requester lab                  show its newest key again
  manage.py marketplace_requester lab --new-key        add a key; the others stay valid
  manage.py marketplace_requester lab --revoke AKIA…   revoke a key for good
  manage.py marketplace_requester lab --may-invite     let its programs invite workers

A shell can read the output; programs that use boto3 then work unchanged.
  set -a; eval "$(manage.py marketplace_requester lab)"; set +a
"""


class Formatter(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the examples' lines."""


class Command(BaseCommand):
    help = (
        "Create a requester on the marketplace, or find the one with that name. Print its access\n"
        "key, the key's secret, the API's address and the secret that signs notifications.\n"
        "Secrets are derived from SECRET_KEY and not stored: you can print them again at any\n"
        "time, and they change when SECRET_KEY changes."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(
            prog_name, subcommand, formatter_class=Formatter, epilog=EXAMPLES, **kwargs
        )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "name", metavar="NAME", help="who publishes HITs; created if it does not exist"
        )
        parser.add_argument(
            "--funds",
            type=_amount,
            metavar="DOLLARS",
            help="add this much prepaid money, e.g. 100.00, every time you run it",
        )
        parser.add_argument("--new-key", action="store_true", help="issue another access key")
        parser.add_argument("--revoke", metavar="KEY", help="revoke this access key")
        parser.add_argument(
            "--may-invite",
            action=argparse.BooleanOptionalAction,
            help="whether it may create sign-up links for workers through the API (default: no)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError(
                "The database's tables are missing or old: run `python manage.py migrate` first."
            )
        requester = Requester.objects.filter(name=options["name"]).first()
        known = requester is not None
        if requester is None:
            if options["revoke"]:
                raise CommandError(f"There is no requester {options['name']!r}.")
            try:
                requester = requester_create(name=options["name"])
            except ValueError as error:
                raise CommandError(str(error)) from None
        revoked = options["revoke"]
        if revoked and not access_key_revoke(requester=requester, key_id=revoked):
            raise CommandError(f"{requester.name} has no valid key {revoked}. Nothing was changed.")
        if options["new_key"] and known:
            access_key_issue(requester=requester)
        if options["may_invite"] is not None:
            requester_let_invite(requester=requester, may_invite=options["may_invite"])
        if options["funds"]:
            memo = "manage.py marketplace_requester"
            funds_add(requester=requester, cents=options["funds"], key=uuid.uuid4().hex, memo=memo)
        self._tell(requester, "found" if known else "made")

    def _tell(self, requester: Requester, how: str) -> None:
        account = Account.objects.filter(requester=requester, kind=AccountKind.AVAILABLE).first()
        balance = dollars(account.balance if account else 0)
        keys = list(requester.keys.filter(revoked_at=None).order_by("-pk"))
        lines = [f"# Requester {requester.name} ({requester.requester_id}), {how}."]
        lines.append(f"# Available: {balance}")
        if requester.may_invite:
            lines.append("# It may invite workers.")
        if not requester.is_active:
            lines.append("# This requester is not active: its keys are refused.")
        if keys:
            lines += [
                f"AWS_ACCESS_KEY_ID={keys[0].key_id}",
                f"AWS_SECRET_ACCESS_KEY={keys[0].secret}",
            ]
        else:
            lines.append("# There is no valid key. Run it with --new-key to issue one.")
        if len(keys) > 1:
            lines.append(f"# Also valid: {', '.join(key.key_id for key in keys[1:])}")
        lines += [
            "AWS_DEFAULT_REGION=us-east-1",
            f"AWS_ENDPOINT_URL_MTURK={settings.MARKETPLACE_URL}",
            f"MARKETPLACE_WEBHOOK_SECRET={requester.webhook_secret}",
            "#",
            "# With the first four in the environment, any boto3 program works unchanged. In code:",
            "#   import boto3",
            '#   mturk = boto3.client("mturk", region_name="us-east-1",',
            f'#                        endpoint_url="{settings.MARKETPLACE_URL}")',
            '#   print(mturk.get_account_balance()["AvailableBalance"])',
        ]
        self.stdout.write("\n".join(lines))


def _amount(text: str) -> int:
    try:
        amount = cents(text)
    except RequestError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not 0 < amount <= MOST_CENTS:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.01 and {dollars(MOST_CENTS)}")
    return amount
