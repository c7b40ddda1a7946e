"""Reads DATABASE_URL. The two engines supported need twenty lines, not a dependency."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SQLITE_OPTIONS: dict[str, Any] = {
    # IMMEDIATE takes the write lock at BEGIN, where SQLite waits for it; a lock upgrade in the
    # middle of a transaction would fail at once instead.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
}


def database_from_url(url: str, *, base: Path) -> dict[str, Any]:
    """Return Django's connection settings for `sqlite:///file` or `postgresql://…`.

    A relative SQLite file (three slashes) is resolved against `base`; four slashes are absolute.
    Query parameters of a PostgreSQL URL are libpq options; `?host=/dir` names a socket folder.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        name = unquote(parts.path[1:])
        if not name or parts.netloc:
            raise ImproperlyConfigured(
                "DATABASE_URL: write sqlite:///relative or sqlite:////absolute."
            )
        file = name if name == ":memory:" else str(base / name)
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": file,
            "OPTIONS": dict(SQLITE_OPTIONS),
        }
    if parts.scheme in {"postgres", "postgresql"}:
        options = dict(parse_qsl(parts.query))
        name = unquote(parts.path[1:])
        if not name:
            raise ImproperlyConfigured("DATABASE_URL has no database name after the host.")
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": options.pop("host", unquote(parts.hostname or "")),
            "PORT": options.pop("port", str(parts.port or "")),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": options,
        }
    raise ImproperlyConfigured(
        f"DATABASE_URL: {parts.scheme or 'no scheme'!r} is not supported; use sqlite or postgresql."
    )
