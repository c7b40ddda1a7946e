"""`python -m config.run` as a real process tree: starts, says so, leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from django.contrib.auth.models import User

from config.run import announcement
from tests.processes import ROOT, environment, wait_for
from tests.services import free_port


class Running:
    """A running `config.run` and what it has printed."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        settings = environment(CHAINBOX_VAR=str(folder / "var"), PORT=str(self.port))
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

    def wait_until_up(self) -> None:
        """Wait for the announcement and for the worker."""
        wait_for(
            lambda: (
                self.process.poll() is not None
                or ("Chainbox is running." in self.printed() and " ready." in self.printed())
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


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    run = Running(tmp_path)
    try:
        run.wait_until_up()
        yield run
    finally:
        run.process.send_signal(signal.SIGTERM)
        run.process.wait(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stops_whole(running: Running, how: signal.Signals) -> None:
    printed = running.printed()
    assert f"http://127.0.0.1:{running.port}/" in printed
    assert "admin / chainbox-admin" in printed
    running.process.send_signal(how)
    assert running.process.wait(timeout=60) == 0, running.printed()
    assert running.nothing_is_left()


@pytest.mark.slow
def test_fails_when_one_dies(running: Running) -> None:
    scheduler = next(member for member in running.family if "beat" in member.cmdline())
    os.kill(scheduler.pid, signal.SIGKILL)
    assert running.process.wait(timeout=60) == 1
    assert "The scheduler process ended" in running.printed()
    assert running.nothing_is_left()


def start_on(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    """Run with a PORT that must be refused."""
    return subprocess.run(
        [sys.executable, "-m", "config.run"],
        env=environment(CHAINBOX_VAR=str(folder), PORT=port),
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


def test_says_that_the_port_is_no_number(tmp_path: Path) -> None:
    result = start_on(tmp_path, "http")
    assert (result.returncode, "PORT must be a number" in result.stderr) == (1, True)


@pytest.mark.django_db
def test_demo_accounts_are_for_this_machine_alone() -> None:
    assert "admin / chainbox-admin" in announcement("127.0.0.1", 8000)
    assert "admin / chainbox-admin" in announcement("::1", 8000)
    User.objects.all().delete()
    assert "createsuperuser" in announcement("0.0.0.0", 8000)
    assert not User.objects.exists()
