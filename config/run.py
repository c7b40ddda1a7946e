"""`make run`: the site, a worker and the scheduler together, until Ctrl-C or until one dies."""

import contextlib
import http.client
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from types import FrameType
from typing import IO, NamedTuple

import django

from common.files.trouble import trouble_told

STOP_SECONDS = 10
START_SECONDS = 60
# Somebody who tries the site needs the addresses and the errors, not a line for every request.
LEVEL = "WARNING"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
TALKING = ("DEBUG", "INFO")
# We make no key here: data stored under a key, such as workers' hashed names, is lost with it.
PUBLIC_KEY = """\
With HOST={host} others can reach the site, but its secret key is the public one from the source
code. With that key anybody can forge sign-ins, tickets and photo addresses. Nothing was started.
Make your own key,
  python3 -c "import secrets; print(secrets.token_urlsafe(64))"
set it as SECRET_KEY every time you start this site, and list the site's host names in
ALLOWED_HOSTS. Open sittings and access keys that the old key signed become invalid."""


class Child(NamedTuple):
    """One of the three processes, and the thread that copies its output."""

    name: str
    process: subprocess.Popen[str]
    reader: threading.Thread


def commands(level: str) -> dict[str, list[str]]:
    """Return the command line of each process; `level` is their log level."""
    python = sys.executable
    quiet = () if level in TALKING else ("--quiet",)
    celery = [python, "-m", "celery", "--app=config", *quiet]
    return {
        # One process with threads: SQLite takes one writer at a time anyway. Gossip, mingle and
        # heartbeat are talk between workers, and there is only one.
        "worker": [
            *(*celery, "worker", f"--loglevel={level}", "--pool=threads", "--concurrency=2"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ],
        "scheduler": [*celery, "beat", f"--loglevel={level}"],
        # It listens at HOST and PORT.
        "web": [python, "-m", "config.server"],
    }


def copy_lines(name: str, source: IO[str]) -> None:
    """Print a process's output line by line, with its name in front."""
    for line in source:
        print(f"{name:>9} | {line.rstrip()}", flush=True)


def start(name: str, command: list[str]) -> Child:
    """Start one process in a group of its own, so that Ctrl-C reaches only us."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    reader = threading.Thread(target=copy_lines, args=(name, process.stdout), daemon=True)
    reader.start()
    return Child(name, process, reader)


def stop(children: list[Child]) -> None:
    """Ask every process to finish, then end whatever is left of its group."""
    for child in children:
        if child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(timeout=max(0.1, deadline - time.monotonic()))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()
        child.reader.join(timeout=2)


def first_dead(children: list[Child]) -> Child | None:
    """Return a process that has ended, if any."""
    return next((child for child in children if child.process.poll() is not None), None)


def port_is_free(host: str, port: int) -> bool:
    """Try to listen at the address, as the web server is about to."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def site_answers(host: str, port: int) -> bool:
    """Ask the health check whether the site answers."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": "localhost"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def announcement(host: str, port: int, crowd: str, level: str = LEVEL) -> str:
    """Return the text that says what to open and how to sign in.

    Creates missing demo accounts, but only where nobody else can reach the site. Elsewhere demo
    accounts from an earlier run get new passwords.
    """
    from config.demo.accounts import DEMO_ACCOUNTS, demo_accounts_close, ensure_demo_accounts
    from config.demo.marketplace import DEMO_WORKER, demo_worker_ensure, local_address

    address = local_address(host, port)
    lines = ["", "Chainbox is running.", f"  Researchers: {address}/"]
    lines += [f"  Workers:     {address}/marketplace/", f"  Admin:       {address}/admin/"]
    if is_loopback(host):
        worker = demo_worker_ensure()
        for account in [*ensure_demo_accounts(), *([worker] if worker else [])]:
            lines.append(f"  Account {account.username} / {account.password}: {account.purpose}")
    else:
        lines.append("  Others can reach this site, so no account has a public password.")
        for account in demo_accounts_close([*DEMO_ACCOUNTS, DEMO_WORKER]):
            lines.append(f"  Account {account.username} has a new password: {account.password}")
        lines.append(
            "  More accounts: manage.py createsuperuser; passwords: manage.py changepassword"
        )
    lines.append(f"  HITs are published on {crowd}.")
    if level not in TALKING:
        lines.append("  From here on you see only problems. For more: CHAINBOX_LOG_LEVEL=INFO")
    return "\n".join([*lines, "  Stop with Ctrl-C.", ""])


def key_is_public(host: str) -> bool:
    """Tell whether others could reach a site whose secret key is public."""
    from django.conf import settings

    from config.settings import DEVELOPMENT_SECRET

    return not is_loopback(host) and settings.SECRET_KEY == DEVELOPMENT_SECRET


def crowd_connect(host: str, port: int) -> str:
    """Let the site publish on its own marketplace unless another is set; return the one in use."""
    from django.conf import settings

    from config.demo.crowd_file import crowd_file_write
    from config.demo.marketplace import REQUESTER, crowd_environment

    values = crowd_environment(host, port, os.environ)
    # Our child processes inherit it; commands in another terminal read the file.
    os.environ.update(values)
    if not settings.PRODUCTION:
        crowd_file_write(settings.CHAINBOX_VAR, values)
    if values:
        return f"this site's own marketplace, as its requester “{REQUESTER}”"
    endpoint: str = settings.CHAINBOX_CROWD_ENDPOINT
    return endpoint


def _interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def watch(children: list[Child], host: str, port: int, words: str) -> int:
    """Announce the site once it answers, then wait for a process to die."""
    deadline = time.monotonic() + START_SECONDS
    announced = False
    while (dead := first_dead(children)) is None:
        if not announced and site_answers(host, port):
            print(words, flush=True)
            announced = True
        if not announced and time.monotonic() > deadline:
            print(f"The site did not answer within {START_SECONDS} seconds.", file=sys.stderr)
            return 1
        time.sleep(0.3)
    print(f"The {dead.name} process ended (status {dead.process.returncode}).", file=sys.stderr)
    return 1


def main() -> int:
    """Run the three processes; return 0 when told to stop, 1 when something failed.

    With --connect: only register the site with its own marketplace.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    host = os.environ.get("HOST") or "127.0.0.1"
    given = os.environ.get("PORT") or "8000"
    if not given.isdecimal() or not 0 < int(given) < 65536:
        print(f"PORT must be a number from 1 to 65535, not {given!r}.", file=sys.stderr)
        return 1
    port = int(given)
    level = (os.environ.get("CHAINBOX_LOG_LEVEL") or LEVEL).upper()
    if level not in LEVELS:
        print(
            f"CHAINBOX_LOG_LEVEL must be one of {', '.join(LEVELS)}, not {level!r}.",
            file=sys.stderr,
        )
        return 1
    # The settings read these here and in the child processes; so does the web server.
    os.environ |= {"CHAINBOX_LOG_LEVEL": level, "HOST": host, "PORT": str(port)}
    if key_is_public(host):
        print(PUBLIC_KEY.format(host=host), file=sys.stderr)
        return 1
    if sys.argv[1:] == ["--connect"]:
        # The demo is loaded before the site starts, and publishes HITs.
        django.setup()
        crowd_connect(host, port)
        return 0
    if not port_is_free(host, port):
        print(
            f"Port {port} on {host} is already in use or not allowed. Stop the program using it, "
            f"or choose another port: make run PORT={port + 1 if port < 65535 else 8000}",
            file=sys.stderr,
        )
        return 1
    django.setup()
    children: list[Child] = []
    # SIGINT too: a shell that starts us in the background makes us ignore it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    try:
        words = announcement(host, port, crowd_connect(host, port), level)
        for name, command in commands(level).items():
            children.append(start(name, command))
        return watch(children, host, port, words)
    except KeyboardInterrupt:
        print("Stopping …", flush=True)
        return 0
    finally:
        # A second Ctrl-C must not leave processes behind.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        stop(children)


if __name__ == "__main__":
    with trouble_told():
        sys.exit(main())
