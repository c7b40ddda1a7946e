"""manage.py campaign_settings: show a campaign's settings, or change them."""

import argparse
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
from django.core.management.base import CommandError

from annotation.actions.campaign.campaigns import CampaignError, campaign_settings_change
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.pipeline.protocol.settings import Settings


class Command(DatabaseCommand):
    help = (
        "Print a campaign's settings. With NAME=VALUE, change them: the campaign gets a new "
        "version, and decisions made under the old one stay as they are. Write a value as JSON or "
        "as a plain word: coverage_votes=3, drawing_way=random, crowd.price_cents.links=30. The "
        "settings are explained in docs/protocol.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("changes", nargs="*", metavar="NAME=VALUE")
        parser.add_argument("--campaign", required=True, metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        settings = campaign.settings
        changes = read_changes(options["changes"], settings)
        if changes:
            try:
                settings = campaign_settings_change(campaign=campaign, **changes)
            except CampaignError as error:
                raise CommandError(f"{error}; nothing was changed.") from error
        self.stdout.write(f"{campaign.name}, settings version {settings.version}")
        for name, value in _named(msgspec.to_builtins(settings)):
            if name != "version":
                self.stdout.write(f"  {name} = {_words(value)}")


def _named(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value with its name, such as `questions_per_hit.links`."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _named(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def read_changes(assignments: list[str], settings: Settings) -> dict[str, Any]:
    """Return by name the new values that differ from the current ones."""
    current: dict[str, Any] = json.loads(msgspec.json.encode(settings))
    del current["version"]
    changed = deepcopy(current)
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise CommandError(f"{assignment!r} is not an assignment. Write NAME=VALUE.")
        _assign(changed, name, _value(text))
    return {name: value for name, value in changed.items() if value != current[name]}


def _assign(values: dict[str, Any], name: str, value: Any) -> None:
    """Set the value of that name; each dot, as in `crowd.price_cents.links`, is one step down."""
    first, *rest = name.split(".")
    if first not in values:
        raise CommandError(f"There is no setting {first!r}; there are: {', '.join(values)}.")
    whole, last = first, first
    inside = values
    for part in rest:
        inner = inside[last]
        if not isinstance(inner, dict) or part not in inner:
            keys = inner if isinstance(inner, dict) else ()
            hint = (
                f"there are: {', '.join(f'{whole}.{k}' for k in keys)}" if keys else "it has none"
            )
            raise CommandError(f"The setting {whole!r} has no part {part!r}; {hint}.")
        whole, last, inside = f"{whole}.{part}", part, inner
    inside[last] = value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
