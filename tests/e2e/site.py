"""The real thing for tests: web server, Celery workers and scheduler, on PostgreSQL and Redis.

All as processes of their own, on a database and a Redis of their own, with the embedded
marketplace and a requester who has money.
"""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg2
import psycopg2.extensions

from tests.processes import ROOT, environment, wait_for
from tests.services import free_port, redis

STOP_SECONDS = 20
# The marketplace's requester, in the words that `marketplace_requester` prints.
_GIVEN = {
    "CHAINBOX_CROWD_KEY_ID": "AWS_ACCESS_KEY_ID",
    "CHAINBOX_CROWD_SECRET": "AWS_SECRET_ACCESS_KEY",
    "CHAINBOX_CROWD_WEBHOOK_SECRET": "MARKETPLACE_WEBHOOK_SECRET",
}


class Site:
    """A running Chainbox, used through its commands and over HTTP."""

    def __init__(self, database: str, redis_url: str, folder: Path) -> None:
        self.database = database
        self.redis_url = redis_url
        self.folder = folder
        self.port = free_port()
        # Another host than the task pages', as in real life: the frame is a third party's.
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = environment(
            DATABASE_URL=database,
            REDIS_URL=redis_url,
            CHAINBOX_VAR=str(folder / "var"),
            # Task pages are reached by another name, which may mean another address.
            HOST="127.0.0.1,::1" if has_ipv6() else "127.0.0.1",
            PORT=str(self.port),
            CHAINBOX_WEB_PROCESSES="2",
            CHAINBOX_TASK_URL=f"http://localhost:{self.port}",
            MARKETPLACE_URL=f"{self.url}/marketplace/api",
            CHAINBOX_CROWD_ENDPOINT=f"{self.url}/marketplace/api",
            CHAINBOX_CROWD_WEBHOOK=f"{self.url}/crowd/notifications",
            PYTHONUNBUFFERED="1",
        )
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._connection: psycopg2.extensions.connection | None = None

    def prepare(self, funds: int = 1000) -> None:
        """Make the tables, and a requester at the marketplace with so many dollars."""
        self.manage("migrate", "--verbosity", "0")
        told = self.manage("marketplace_requester", "chainbox", "--funds", str(funds))
        printed = dict(line.split("=", 1) for line in told.splitlines() if "=" in line)
        self.environment |= {name: printed[theirs] for name, theirs in _GIVEN.items()}

    def manage(self, *words: str, fails: bool = False) -> str:
        """Run a command to its end and return what it says."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert fails or done.returncode == 0, f"{words}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + (done.stderr if fails else "")

    def start(self, name: str, *, waits: bool = True) -> None:
        """Start one of the processes; `waits` for the web server to answer."""
        log = (self.folder / f"{name}.log").open("ab")
        with log:
            self.processes[name] = subprocess.Popen(
                commands()[name],
                env=self.environment,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if name == "web" and waits:
            wait_for(self.answers, "the site")

    def answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    def kill(self, name: str) -> None:
        """Kill a process with all its children, without a word."""
        process = self.processes[name]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self, *names: str) -> None:
        """End these processes, or all; whoever does not go when asked is made to."""
        asked = [self.processes[name] for name in names or self.processes]
        for process in asked:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in asked:
            try:
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def select(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Ask the database itself."""
        if self._connection is None:
            self._connection = psycopg2.connect(self.database)
            # Each statement sees what is there by then.
            self._connection.autocommit = True
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def close(self) -> None:
        """End the connection to the database."""
        if self._connection is not None:
            self._connection.close()


def commands() -> dict[str, list[str]]:
    """Return the command line of each process; as in production, but all on two cores."""
    celery = [sys.executable, "-m", "celery", "--app=config"]
    return {
        "web": [sys.executable, "-m", "config.server"],
        "worker": [
            *(*celery, "worker", "--loglevel=WARNING", "--pool=threads", "--concurrency=4"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ],
        "scheduler": [*celery, "beat", "--loglevel=WARNING"],
    }


def has_ipv6() -> bool:
    return Path("/proc/net/if_inet6").exists() and bool(
        Path("/proc/net/if_inet6").read_text().strip()
    )


@contextmanager
def running_site(postgres_url: str, folder: Path) -> Iterator[Site]:
    """Yield a site with its three processes up; nothing of it is left afterwards."""
    name = f"e2e_{uuid.uuid4().hex}"
    with ExitStack() as stack:
        server = psycopg2.connect(postgres_url)
        server.autocommit = True
        stack.callback(server.close)
        cursor = stack.enter_context(server.cursor())
        cursor.execute(f'CREATE DATABASE "{name}"')
        stack.callback(cursor.execute, f'DROP DATABASE "{name}" WITH (FORCE)')
        database = urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
        site = Site(database, stack.enter_context(redis()), folder)
        stack.callback(site.close)
        stack.callback(site.stop)
        site.prepare()
        for process in commands():
            site.start(process)
        yield site
