"""`python -m config.run` as a real process tree: starts, says so, leaves nothing behind."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import boto3
import psutil
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config.demo.crowd_file import crowd_file_load, crowd_file_write
from config.demo.marketplace import crowd_environment, demo_worker_ensure, requester_ensure
from config.run import announcement
from marketplace.actions.notices.delivery import signature
from marketplace.actions.requesters import access_key_revoke
from marketplace.models import Account, AccountKind, Requester, Worker
from tests.processes import ROOT, environment, wait_for
from tests.services import free_port


class Running:
    """A running `config.run` and what it has printed."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.port = free_port()
        self.var = folder / "var"
        settings = environment(CHAINBOX_VAR=str(self.var), PORT=str(self.port), **settings)
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity=0"],
            env=settings,
            cwd=ROOT,
            check=True,
        )
        self.log = folder / "log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.run"],
                env=settings,
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )
        self.family: list[psutil.Process] = []

    def printed(self) -> str:
        """Return its output so far."""
        return self.log.read_text()

    def wait_until_up(self, *words: str) -> None:
        """Wait for the announcement, and for these words."""
        wait_for(
            lambda: (
                self.process.poll() is not None
                or all(one in self.printed() for one in ("Chainbox is running.", *words))
            ),
            "the announcement",
        )
        assert self.process.poll() is None, self.printed()
        self.family = psutil.Process(self.process.pid).children(recursive=True)
        assert len(self.family) >= 3

    def nothing_is_left(self) -> bool:
        """Tell whether all its processes are gone."""
        return not any(
            member.is_running() and member.status() != psutil.STATUS_ZOMBIE
            for member in self.family
        )


@contextmanager
def started(folder: Path, *words: str, **settings: str) -> Iterator[Running]:
    run = Running(folder, **settings)
    try:
        run.wait_until_up(*words)
        yield run
    finally:
        run.process.send_signal(signal.SIGTERM)
        run.process.wait(timeout=60)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    # The worker says that it is ready, where it is let speak.
    with started(tmp_path, " ready.", CHAINBOX_LOG_LEVEL="INFO") as run:
        yield run


def check_crowd(running: Running) -> None:
    """The site can publish on its own marketplace, and hear from it, as commands can."""
    crowd: dict[str, str] = {"CHAINBOX_VAR": str(running.var)}
    crowd_file_load(crowd, ROOT)
    client = boto3.client(
        "mturk",
        endpoint_url=crowd["CHAINBOX_CROWD_ENDPOINT"],
        region_name=crowd["CHAINBOX_CROWD_REGION"],
        aws_access_key_id=crowd["CHAINBOX_CROWD_KEY_ID"],
        aws_secret_access_key=crowd["CHAINBOX_CROWD_SECRET"],
    )
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
    client.close()
    hook = f"http://127.0.0.1:{running.port}/crowd/notifications"
    assert crowd["CHAINBOX_CROWD_WEBHOOK"] == hook
    body = b'{"EventDocVersion": "1", "EventDocId": "1", "CustomerId": "1", "Events": []}'
    signed = signature(body, crowd["CHAINBOX_CROWD_WEBHOOK_SECRET"])
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    connection.request("POST", "/crowd/notifications", body, {"X-Chainbox-Signature": signed})
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stops_whole(running: Running, how: signal.Signals) -> None:
    printed = running.printed()
    assert f"http://127.0.0.1:{running.port}/" in printed
    assert "admin / chainbox-admin" in printed
    assert "worker / chainbox-worker" in printed
    assert "HITs are published on this site's own marketplace" in printed
    assert "you see only problems" not in printed
    check_crowd(running)
    running.process.send_signal(how)
    assert running.process.wait(timeout=60) == 0, running.printed()
    assert running.nothing_is_left()


@pytest.mark.slow
def test_the_announcement_stays_in_sight(tmp_path: Path) -> None:
    # Who runs this as root is warned by Celery, and rightly.
    with started(tmp_path, PYTHONWARNINGS="ignore") as running:
        before = running.printed()
        # The scheduler has the worker do something every few seconds.
        wait_for(lambda: periodic_work_is_done(running.var), "the worker to have swept")
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        connection.request("GET", "/accounts/login/")
        assert connection.getresponse().status == 200
        connection.close()
        assert running.printed() == before
    assert before.count("\n") < 15
    assert "CHAINBOX_LOG_LEVEL=INFO" in before


def periodic_work_is_done(var: Path) -> bool:
    """Tell whether the worker has noted its sign of life, which is all that is in the cache."""
    return any((var / "cache").glob("*"))


@pytest.mark.slow
def test_fails_when_one_dies(running: Running) -> None:
    scheduler = next(member for member in running.family if "beat" in member.cmdline())
    os.kill(scheduler.pid, signal.SIGKILL)
    assert running.process.wait(timeout=60) == 1
    assert "The scheduler process ended" in running.printed()
    assert running.nothing_is_left()


def start_on(
    folder: Path, port: str, *arguments: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run with settings that must be refused."""
    return subprocess.run(
        [sys.executable, "-m", "config.run", *arguments],
        env=environment(CHAINBOX_VAR=str(folder), PORT=port, **settings),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_says_that_the_port_is_taken(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = start_on(tmp_path, str(port))
    assert result.returncode == 1
    assert f"Port {port} on 127.0.0.1 is already in use" in result.stderr
    assert "Traceback" not in result.stderr


def test_says_which_levels_there_are(tmp_path: Path) -> None:
    result = start_on(tmp_path, "8000", CHAINBOX_LOG_LEVEL="loud")
    assert result.returncode == 1
    assert result.stderr.startswith("CHAINBOX_LOG_LEVEL must be one of DEBUG, INFO")


def test_says_that_the_port_is_no_number(tmp_path: Path) -> None:
    result = start_on(tmp_path, "http")
    assert (result.returncode, "PORT must be a number" in result.stderr) == (1, True)


@pytest.mark.django_db
def test_demo_accounts_are_for_this_machine_alone() -> None:
    for host in ("127.0.0.1", "::1"):
        for account in ("admin / chainbox-admin", "worker / chainbox-worker"):
            assert account in announcement(host, 8000, "a marketplace")
    Worker.objects.all().delete()
    User.objects.all().delete()
    assert "createsuperuser" in announcement("0.0.0.0", 8000, "a marketplace")
    assert not User.objects.exists()


@pytest.mark.django_db
def test_demo_accounts_of_an_earlier_run_get_new_passwords_where_others_can_reach_them() -> None:
    announcement("127.0.0.1", 8000, "a marketplace")
    users = {user.username: user for user in User.objects.all()}
    assert set(users) == {"admin", "researcher", "worker"}
    users["researcher"].set_password("my own words")
    users["researcher"].save()
    words = announcement("0.0.0.0", 8000, "a marketplace")
    for name, password in (("admin", "chainbox-admin"), ("worker", "chainbox-worker")):
        users[name].refresh_from_db()
        assert not users[name].check_password(password)
        assert password not in words
        printed = re.search(rf"Account {name} has a new password: (\S+)", words)
        assert printed is not None
        assert users[name].check_password(printed[1])
    # Whose password was changed already keeps it, and nothing is told of it.
    users["researcher"].refresh_from_db()
    assert users["researcher"].check_password("my own words")
    assert "researcher" not in words
    # The next time there is nothing to tell.
    assert "new password" not in announcement("0.0.0.0", 8000, "a marketplace")


@pytest.mark.parametrize("arguments", [[], ["--connect"]])
def test_refuses_to_show_others_a_site_with_the_public_key(
    tmp_path: Path, arguments: list[str]
) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.7", "chainbox.example"):
        result = start_on(tmp_path, "8000", *arguments, HOST=host)
        assert result.returncode == 1
        assert f"With HOST={host} others can reach the site" in result.stderr
        assert "SECRET_KEY" in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_after_a_local_run_others_find_neither_key_nor_passwords(tmp_path: Path) -> None:
    with started(tmp_path) as local:
        assert sign_in(local.port, "admin", "chainbox-admin")
    own = "-".join(["a-secret-of-this-site's-own"] * 3)
    with started(tmp_path, HOST="0.0.0.0", SECRET_KEY=own) as reachable:
        assert not sign_in(reachable.port, "admin", "chainbox-admin")
        assert not sign_in(reachable.port, "worker", "chainbox-worker")
        printed = re.search(r"Account admin has a new password: (\S+)", reachable.printed())
        assert printed is not None
        assert sign_in(reachable.port, "admin", printed[1])


def sign_in(port: int, username: str, password: str) -> bool:
    """Sign in over HTTP as a browser does; tell whether that succeeded."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/accounts/login/")
    page = connection.getresponse()
    cookie = (page.headers["Set-Cookie"] or "").partition(";")[0]
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())
    assert token is not None
    form = {"csrfmiddlewaretoken": token[1], "username": username, "password": password}
    kind = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/accounts/login/", urlencode(form), kind)
    status = connection.getresponse().status
    connection.close()
    assert status in {200, 302}
    return status == 302


@pytest.mark.django_db
def test_the_demo_worker_can_work_at_once() -> None:
    assert demo_worker_ensure() is not None
    assert demo_worker_ensure() is not None
    worker = Worker.objects.get()
    assert worker.consented_at is not None
    assert worker.user is not None
    assert not worker.user.is_staff
    # Whoever changes the password means it.
    worker.user.set_password("something else")
    worker.user.save()
    assert demo_worker_ensure() is None


@pytest.mark.django_db
def test_another_account_of_that_name_is_left_alone() -> None:
    User.objects.create_user("worker", password="chainbox-worker")
    assert demo_worker_ensure() is None
    assert not Worker.objects.exists()


@pytest.mark.django_db
def test_the_requester_is_made_once_with_money_that_comes_once() -> None:
    first = crowd_environment("127.0.0.1", 8000, {})
    assert crowd_environment("127.0.0.1", 8000, {}) == first
    requester = Requester.objects.get()
    assert (requester.name, requester.may_invite) == ("chainbox", True)
    account = Account.objects.get(requester=requester, kind=AccountKind.AVAILABLE)
    assert account.balance == 1_000_000
    assert first["CHAINBOX_CROWD_SECRET"] == requester.keys.get().secret
    assert first["CHAINBOX_CROWD_WEBHOOK_SECRET"] == requester.webhook_secret
    # What its operator took away stays away; a key that was revoked is replaced.
    requester.may_invite = False
    requester.save()
    assert access_key_revoke(requester=requester, key_id=first["CHAINBOX_CROWD_KEY_ID"])
    second = crowd_environment("127.0.0.1", 8000, {})
    assert second["CHAINBOX_CROWD_KEY_ID"] != first["CHAINBOX_CROWD_KEY_ID"]
    assert not requester_ensure().may_invite


@pytest.mark.django_db
def test_no_play_money_in_production(settings: Settings) -> None:
    settings.PRODUCTION = True
    assert crowd_environment("127.0.0.1", 8000, {})["CHAINBOX_CROWD_KEY_ID"]
    assert not Account.objects.filter(kind=AccountKind.AVAILABLE, balance__gt=0).exists()
    with pytest.raises(ImproperlyConfigured, match="production mode does not create them"):
        demo_worker_ensure()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "endpoint", "webhook"),
    [
        ("127.0.0.1", "http://127.0.0.1:81/marketplace/api", "http://127.0.0.1:81"),
        ("0.0.0.0", "http://127.0.0.1:81/marketplace/api", "http://127.0.0.1:81"),
        ("::", "http://[::1]:81/marketplace/api", "http://[::1]:81"),
        # The marketplace takes no plain HTTP to other machines: it is asked instead.
        ("192.0.2.7", "http://192.0.2.7:81/marketplace/api", None),
    ],
)
def test_addresses_that_the_site_reaches_itself_by(
    host: str, endpoint: str, webhook: str | None
) -> None:
    made = crowd_environment(host, 81, {})
    assert made["CHAINBOX_CROWD_ENDPOINT"] == endpoint
    wanted = f"{webhook}/crowd/notifications" if webhook else None
    assert made.get("CHAINBOX_CROWD_WEBHOOK") == wanted


@pytest.mark.django_db
def test_what_is_set_stays() -> None:
    mine = {"CHAINBOX_CROWD_WEBHOOK": "https://tunnel.example/crowd/notifications"}
    made = crowd_environment("127.0.0.1", 8000, mine)
    assert "CHAINBOX_CROWD_WEBHOOK" not in made
    assert "CHAINBOX_CROWD_KEY_ID" in made
    Requester.objects.all().update(name="somebody else")
    other = {"CHAINBOX_CROWD_ENDPOINT": "https://market.example/api"}
    assert crowd_environment("127.0.0.1", 8000, other) == {}
    assert not Requester.objects.filter(name="chainbox").exists()


def test_commands_in_another_terminal_read_what_was_found_out(tmp_path: Path) -> None:
    values = {"CHAINBOX_CROWD_KEY_ID": "AKIA", "CHAINBOX_CROWD_SECRET": "a=b/+"}
    crowd_file_write(tmp_path, values)
    assert (tmp_path / "crowd.env").stat().st_mode & 0o077 == 0
    here = {"CHAINBOX_VAR": str(tmp_path)}
    crowd_file_load(here, ROOT)
    assert here == {"CHAINBOX_VAR": str(tmp_path)} | values
    for other in ({"CHAINBOX_MODE": "production"}, {"CHAINBOX_CROWD_ENDPOINT": "https://m"}):
        there = {"CHAINBOX_VAR": str(tmp_path)} | other
        crowd_file_load(there, ROOT)
        assert there == {"CHAINBOX_VAR": str(tmp_path)} | other
    crowd_file_write(tmp_path, {})
    assert not (tmp_path / "crowd.env").exists()
    empty = {"CHAINBOX_VAR": str(tmp_path)}
    crowd_file_load(empty, ROOT)
    assert empty == {"CHAINBOX_VAR": str(tmp_path)}
