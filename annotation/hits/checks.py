"""Is the task pages' script there, and do they ask for the proof that the marketplace gives?"""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.staticfiles)
def task_script_check(**kwargs: Any) -> list[CheckMessage]:
    """Warn if the pages would come without it."""
    if finders.find("hits/task.js"):
        return []
    return [
        Warning(
            "The task pages' script is not built: workers would see empty pages.",
            hint="Run `npm ci` and `npm run build` in frontend/, or `make setup`.",
            id="hits.W001",
        )
    ]


@register(Tags.security)
def proof_check(**kwargs: Any) -> list[CheckMessage]:
    """Warn if everybody would be turned away, or if proof is given and nobody asks for it."""
    endpoint = settings.CHAINBOX_CROWD_ENDPOINT
    required = settings.CHAINBOX_CROWD_PROOF == "required"
    host = urlsplit(endpoint).hostname or ""
    if required and host.endswith(".amazonaws.com"):
        return [
            Warning(
                "This marketplace does not prove who has accepted a HIT: task pages refuse all "
                "workers.",
                hint="Set CHAINBOX_CROWD_PROOF=none.",
                id="hits.W002",
            )
        ]
    if not required and endpoint == settings.MARKETPLACE_URL:
        return [
            Warning(
                "The marketplace of this site proves who has accepted a HIT, and task pages do "
                "not ask for it: anybody can open sittings under any worker's name.",
                hint="Set CHAINBOX_CROWD_PROOF=required, or leave it out.",
                id="hits.W003",
            )
        ]
    return []
