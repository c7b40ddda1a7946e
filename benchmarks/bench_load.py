"""The production site under load, on PostgreSQL and Redis, against a bare Django view.

Both run behind the same server with the same processes and threads. Locust sends requests to them
in turn, so that other load on the machine affects both: the ratio is the result.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil

from benchmarks.load_site import LoadPlan
from benchmarks.measure import ROOT
from tests.processes import environment, wait_for
from tests.services import free_port, postgres, redis

USERS = 16
ROUNDS, SECONDS = 3, 12
SHOWN_FAILURES = 5


class Figure(msgspec.Struct):
    """One kind of request, or all of them."""

    name: str
    requests: int
    failures: int
    p50: float
    p99: float


class Figures(msgspec.Struct):
    """The results of one Locust run."""

    figures: list[Figure]
    errors: list[str]


class Round(NamedTuple):
    """The measurements of one run, and the processor time of the server's processes meanwhile."""

    figures: Figures
    cpu_seconds: float

    @property
    def total(self) -> Figure:
        return self.figures.figures[0]

    @property
    def rate(self) -> float:
        return self.total.requests / SECONDS

    @property
    def cpu_milliseconds(self) -> float:
        """The server's processor time per request, which other programs do not change."""
        return 1000 * self.cpu_seconds / max(1, self.total.requests)


def main() -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(postgres())
        port, bare_port = free_port(), free_port()
        values = environment(
            CHAINBOX_MODE="production",
            CHAINBOX_VAR=str(folder),
            CHAINBOX_LOG_LEVEL="ERROR",
            # The clients speak plain HTTP, as the proxy does.
            CHAINBOX_SSL_REDIRECT="no",
            CHAINBOX_MARKETPLACE_ORIGINS=f"http://127.0.0.1:{port}",
            CHAINBOX_TASK_URL=f"http://localhost:{port}",
            MARKETPLACE_URL=f"http://127.0.0.1:{port}/marketplace/api",
            SECRET_KEY="abcdefghij" * 5,
            ALLOWED_HOSTS="127.0.0.1,localhost",
            DATABASE_URL=database,
            REDIS_URL=stack.enter_context(redis()),
            LOAD_PLAN=str(folder / "plan.json"),
            LOAD_FIGURES=str(folder / "figures.json"),
        )
        site, bare = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{bare_port}"
        for command in (
            *(["manage.py", "migrate", "--verbosity=0"],),
            *(["manage.py", "collectstatic", "--noinput", "--verbosity=0"],),
            *(["-m", "benchmarks.load_site", site, bare, str(USERS), values["LOAD_PLAN"]],),
        ):
            subprocess.run([sys.executable, *command], env=values, cwd=ROOT, check=True)
        plan = msgspec.json.decode(Path(values["LOAD_PLAN"]).read_bytes(), type=LoadPlan)
        values |= {"CHAINBOX_CROWD_KEY_ID": plan.key_id, "CHAINBOX_CROWD_SECRET": plan.secret}
        sites = stack.enter_context(serving("config.server", port, "/healthz", values))
        bares = stack.enter_context(serving("benchmarks.load_bare", bare_port, "/bare", values))
        measured: dict[str, list[Round]] = {"site": [], "bare": []}
        for _ in range(ROUNDS):
            for name, process in (("bare", bares), ("site", sites)):
                measured[name].append(ask(name, process, values))
        tell(measured["site"], measured["bare"])


@contextlib.contextmanager
def serving(module: str, port: int, path: str, values: dict[str, str]) -> Iterator[psutil.Process]:
    """Run a server until the end of the block."""
    settings = values | {"HOST": "127.0.0.1", "PORT": str(port)}
    process = subprocess.Popen([sys.executable, "-m", module], env=settings, cwd=ROOT)

    def answers() -> bool:
        assert process.poll() is None, f"{module} did not start"
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    try:
        wait_for(answers, module)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def ask(name: str, server: psutil.Process, values: dict[str, str]) -> Round:
    """Let Locust's users send requests for some seconds."""
    before = cpu_seconds(server)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "locust", "-f", "benchmarks/load_client.py", "--headless"),
            *("--users", str(USERS), "--spawn-rate", str(USERS), "--run-time", f"{SECONDS}s"),
            *("--tags", name, "--loglevel", "ERROR", "--only-summary", "--exit-code-on-error", "0"),
            *(("Bare",) if name == "bare" else ("Worker", "Researcher")),
        ],
        env=values,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"Locust ended with status {done.returncode}:\n{done.stderr}")
    figures = msgspec.json.decode(Path(values["LOAD_FIGURES"]).read_bytes(), type=Figures)
    # Some milliseconds, until the requests under way are done.
    time.sleep(0.5)
    return Round(figures, cpu_seconds(server) - before)


def cpu_seconds(server: psutil.Process) -> float:
    times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def tell(site: list[Round], bare: list[Round]) -> None:
    """Print the rounds side by side, then the kinds of requests of the last."""
    print(f"{USERS} users, {os.cpu_count()} cores, {ROUNDS} × {SECONDS} s each, in turn")
    print("           requests/s   p50 ms   p99 ms   server CPU ms/request   failures")
    for name, rounds in (("bare", bare), ("site", site)):
        for one in rounds:
            print(
                f"{name:10} {one.rate:10.1f} {one.total.p50:8.0f} {one.total.p99:8.0f}"
                f" {one.cpu_milliseconds:17.2f} {one.total.failures:16}"
            )
    rates = [b.rate / s.rate for b, s in zip(bare, site, strict=True)]
    costs = [s.cpu_milliseconds / b.cpu_milliseconds for b, s in zip(bare, site, strict=True)]
    print(f"a request of the site costs, × the bare view (requests/s) {middle(rates):8.1f}")
    print(f"a request of the site costs, × the bare view (server CPU) {middle(costs):8.1f}")
    print("by kind, last round              requests   p50 ms   p99 ms")
    for figure in sorted(site[-1].figures.figures[1:], key=lambda one: -one.requests):
        print(f"  {figure.name:32} {figure.requests:6} {figure.p50:8.0f} {figure.p99:8.0f}")
    failures = [error for one in site + bare for error in one.figures.errors]
    for error in failures[:SHOWN_FAILURES]:
        print(f"  failed: {error}")
    if failures:
        sys.exit(f"The figures say nothing: {len(failures)} kinds of requests failed.")


def middle(values: list[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    main()
