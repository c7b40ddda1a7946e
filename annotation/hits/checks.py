"""Is the task pages' script there?"""

from typing import Any

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
