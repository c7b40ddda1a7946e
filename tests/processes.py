"""Help for tests that start real processes."""

import os
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What would change how Chainbox starts; a test names all it wants itself.
OURS = (
    *("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "DATABASE_URL", "HOST", "PORT", "REDIS_URL"),
    *("SECRET_KEY", "DJANGO_SETTINGS_MODULE"),
)


def environment(**values: str) -> dict[str, str]:
    """Return the environment without any setting of ours, plus `values`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in OURS and not name.startswith("CHAINBOX_")
    }
    return kept | values


def wait_for(condition: Callable[[], bool], what: str, *, seconds: float = 60) -> None:
    """Return as soon as `condition` holds; fail if it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
