"""System checks: is the task pages' script built, and do the pages require proof of acceptance?"""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.staticfiles)
def task_script_check(**kwargs: Any) -> list[CheckMessage]:
    """Warn if the script is missing."""
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
    """Warn if proof is required but never given, or given but not required."""
    endpoint = settings.CHAINBOX_CROWD_ENDPOINT
    required = settings.CHAINBOX_CROWD_PROOF == "required"
    host = urlsplit(endpoint).hostname or ""
    if required and host.endswith(".amazonaws.com"):
        return [
            Warning(
                "This marketplace gives no proof that a worker has accepted a HIT, but task pages "
                "require it: they refuse all workers.",
                hint="Set CHAINBOX_CROWD_PROOF=none.",
                id="hits.W002",
            )
        ]
    if not required and endpoint == settings.MARKETPLACE_URL:
        return [
            Warning(
                "This site's marketplace proves who has accepted a HIT, but task pages do not "
                "require the proof: anybody can open sittings under any worker's name.",
                hint="Set CHAINBOX_CROWD_PROOF=required, or leave it out.",
                id="hits.W003",
            )
        ]
    return []
