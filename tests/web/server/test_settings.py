"""Which settings start and which are refused, in processes with a real environment."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.services.database import database_from_url
from tests.processes import ROOT, environment

GOOD = {
    "CHAINBOX_MODE": "production",
    "SECRET_KEY": "abcdefghij" * 5,
    "ALLOWED_HOSTS": "chainbox.example.org",
    "DATABASE_URL": "postgresql://someone:secret@db.example.org/chainbox",
}

SHOW = """
import json
from django.conf import settings
names = [name for name in dir(settings) if name.isupper()]
print(json.dumps({name: getattr(settings, name) for name in names}, default=str))
"""


def start(folder: Path, code: str = SHOW, **values: str) -> subprocess.CompletedProcess[str]:
    """Read the settings in a process that has only `values` set."""
    variables = environment(
        DJANGO_SETTINGS_MODULE="config.settings", CHAINBOX_VAR=str(folder), **values
    )
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, cwd=ROOT, capture_output=True, text=True
    )


def settings_of(folder: Path, **values: str) -> dict[str, Any]:
    """Return the settings such a process sees."""
    result = start(folder, **values)
    assert result.returncode == 0, result.stderr
    shown: dict[str, Any] = json.loads(result.stdout)
    return shown


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"SECRET_KEY": ""}, "needs its own SECRET_KEY"),
        (
            {"SECRET_KEY": "chainbox-development-only-secret-never-for-a-site-others-can-reach"},
            "needs its own SECRET_KEY",
        ),
        ({"SECRET_KEY": ("abcdefghij" * 5)[1:]}, "at least 50 characters"),
        ({"SECRET_KEY": "k" * 80}, "5 of them different"),
        ({"ALLOWED_HOSTS": ""}, "needs ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": " , "}, "needs ALLOWED_HOSTS"),
        ({"DATABASE_URL": ""}, "needs DATABASE_URL"),
        ({"DATABASE_URL": "mysql://db/chainbox"}, "not supported"),
        ({"CHAINBOX_MODE": "prod"}, "CHAINBOX_MODE must be"),
        ({"CHAINBOX_BEHIND_PROXY": "perhaps"}, "CHAINBOX_BEHIND_PROXY must be yes or no"),
        ({"CHAINBOX_BEHIND_PROXY": "yes"}, "CHAINBOX_TRUSTED_PROXIES do not agree"),
        ({"CHAINBOX_TRUSTED_PROXIES": "1"}, "CHAINBOX_TRUSTED_PROXIES do not agree"),
        ({"CHAINBOX_TRUSTED_PROXIES": "-1"}, "CHAINBOX_TRUSTED_PROXIES must be 0 or more"),
    ],
)
def test_refused(tmp_path: Path, change: dict[str, str], complaint: str) -> None:
    result = start(tmp_path, **(GOOD | change))
    assert result.returncode != 0
    assert "ImproperlyConfigured" in result.stderr
    assert complaint in result.stderr


def test_production_is_secure(tmp_path: Path) -> None:
    shown = settings_of(tmp_path, **GOOD)
    assert shown["DEBUG"] is False
    assert shown["SECURE_SSL_REDIRECT"] is True
    assert shown["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert shown["SESSION_COOKIE_SECURE"] is True
    assert shown["SESSION_COOKIE_NAME"].startswith("__Host-")
    assert shown["CSRF_COOKIE_NAME"].startswith("__Host-")
    assert shown["CSRF_COOKIE_SECURE"] is True
    assert shown["SESSION_COOKIE_HTTPONLY"] is True
    assert shown["SECURE_PROXY_SSL_HEADER"] is None, "a client could forge it"
    behind = settings_of(
        tmp_path, **GOOD, CHAINBOX_BEHIND_PROXY="yes", CHAINBOX_TRUSTED_PROXIES="1"
    )
    assert behind["SECURE_PROXY_SSL_HEADER"] == ["HTTP_X_FORWARDED_PROTO", "https"]


def test_djangos_own_deployment_check_finds_nothing(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        env=environment(CHAINBOX_VAR=str(tmp_path), CHAINBOX_HSTS_SUBDOMAINS="yes", **GOOD),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    # W021 asks for HSTS preloading, which is the domain owner's decision and hard to take back.
    complaints = [line for line in result.stderr.splitlines() if line.startswith("?:")]
    assert [line for line in complaints if "W021" not in line] == [], result.stderr


def test_development_needs_nothing(tmp_path: Path) -> None:
    shown = settings_of(tmp_path)
    assert shown["DEBUG"] is False
    assert shown["DATABASES"]["default"]["NAME"] == str(tmp_path / "chainbox.sqlite3")
    assert shown["CELERY_BROKER_URL"].startswith("chainbox-files:")
    assert (tmp_path / "broker" / "messages").is_dir()


def test_redis_is_broker_and_cache(tmp_path: Path) -> None:
    shown = settings_of(tmp_path, REDIS_URL="redis://cache.example.org:6379/3")
    assert shown["CELERY_BROKER_URL"] == "redis://cache.example.org:6379/3"
    assert shown["CACHES"]["default"]["LOCATION"] == "redis://cache.example.org:6379/3"
    assert not (tmp_path / "broker").exists()


def test_sqlite_is_set_for_several_processes(tmp_path: Path) -> None:
    code = """
import django; django.setup()
from django.db import connection, transaction
def ask(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]
print(ask("PRAGMA journal_mode"), ask("PRAGMA foreign_keys"), ask("PRAGMA busy_timeout"))
print(connection.transaction_mode)
"""
    result = start(tmp_path, code)
    assert result.stdout.split() == ["wal", "1", "30000", "IMMEDIATE"], result.stderr


def test_postgresql_url() -> None:
    found = database_from_url(
        "postgresql://jo%40home:p%2Fw@db.example.org:6543/box?sslmode=require", base=ROOT
    )
    wanted = {"NAME": "box", "USER": "jo@home", "PASSWORD": "p/w", "HOST": "db.example.org"}
    assert wanted.items() <= found.items()
    assert (found["PORT"], found["OPTIONS"]) == ("6543", {"sslmode": "require"})
    socket = database_from_url("postgres://me@/box?host=/run/pg", base=ROOT)
    assert (socket["HOST"], socket["PORT"], socket["OPTIONS"]) == ("/run/pg", "", {})


def test_sqlite_url() -> None:
    assert database_from_url("sqlite:///a/b.db", base=ROOT)["NAME"] == str(ROOT / "a" / "b.db")
    assert database_from_url("sqlite:////a/b.db", base=ROOT)["NAME"] == "/a/b.db"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite://a/b", "postgresql://host", "chainbox.db"])
def test_bad_url(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        database_from_url(url, base=ROOT)
