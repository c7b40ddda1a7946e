"""The web server, in every form of the site: `python -m config.server` listens at HOST and PORT.

Gunicorn starts the processes, watches and restarts them; in each, Waitress serves with buffers and
threads (`config/connections.py`). Several processes use several cores.
"""

import contextlib
import gc
import logging
import os
import resource
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final, cast

from gunicorn.app.base import BaseApplication
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.task import ThreadedTaskDispatcher

from config.connections import Application, Limits, Listener, without_body_for_head

# Within the ten seconds that `make run` and Docker give a process to stop.
STOP_SECONDS: Final = 8
# A process whose loop has not moved for this long hangs, and is replaced.
HUNG_SECONDS: Final = 60
MOST_PROCESSES: Final = 4
# How often we check for clients that have run out of time.
LOOK_SECONDS: Final = 0.5
# Files open besides connections: database, logs, pipes, photos being sent.
OTHER_FILES: Final = 128
# A request makes thousands of objects with hardly any reference cycles: the default, 700, is low.
GARBAGE_OBJECTS: Final = 20_000
# Larger requests and replies go to temporary files while they wait.
REQUEST_BUFFER: Final = 64 * 1024
REPLY_BUFFER: Final = 256 * 1024
# Each setting in the environment: its default and its minimum.
_SETTINGS: Final[Mapping[str, tuple[int, int]]] = {
    "CHAINBOX_REQUEST_SECONDS": (30, 1),
    "CHAINBOX_REPLY_SECONDS": (600, 1),
    "CHAINBOX_IDLE_SECONDS": (60, 1),
    "CHAINBOX_MAX_HEADER_BYTES": (32 * 1024, 1024),
    "CHAINBOX_MAX_BODY_BYTES": (4 * 1024 * 1024, 1024),
    "CHAINBOX_MAX_CONNECTIONS": (1000, 10),
    "CHAINBOX_WEB_PROCESSES": (0, 0),
    "CHAINBOX_WEB_THREADS": (8, 1),
}


class SettingError(ValueError):
    """A setting of the server is not valid."""


def number(name: str) -> int:
    """Return a setting of the server from the environment."""
    default, least = _SETTINGS[name]
    given = os.environ.get(name, "").strip()
    if not given:
        return default
    if not given.isdecimal() or int(given) < least:
        raise SettingError(f"{name} must be a whole number of at least {least}, not {given!r}.")
    return int(given)


def limits() -> Limits:
    """Return the environment's limits for slow and large requests."""
    return Limits(
        request_seconds=number("CHAINBOX_REQUEST_SECONDS"),
        reply_seconds=number("CHAINBOX_REPLY_SECONDS"),
        idle_seconds=number("CHAINBOX_IDLE_SECONDS"),
        header_bytes=number("CHAINBOX_MAX_HEADER_BYTES"),
        body_bytes=number("CHAINBOX_MAX_BODY_BYTES"),
        connections=number("CHAINBOX_MAX_CONNECTIONS"),
    )


def processes() -> int:
    """Return how many processes serve: one on SQLite, which takes one writer at a time anyway."""
    given = number("CHAINBOX_WEB_PROCESSES")
    if given:
        return given
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        return 1
    return min(os.cpu_count() or 1, MOST_PROCESSES)


def addresses(hosts: str, port: str) -> list[str]:
    """Return where to listen, in Gunicorn's form; commas separate several hosts.

    >>> addresses("127.0.0.1, ::1", "8000")
    ['127.0.0.1:8000', '[::1]:8000']
    """
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingError(f"PORT must be a number from 1 to 65535, not {port!r}.")
    names = [host.strip() for host in hosts.split(",") if host.strip()]
    return [f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names]


def where_to_listen() -> list[str]:
    """Return the addresses that the environment names."""
    return addresses(os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000")


def allow_files(connections: int) -> int:
    """Raise this process's limit on open files as needed; return how many connections it allows.

    A connection may have a temporary file for its request and one for its reply.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections * 3 + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        needed = min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < needed:
        # Some systems have a lower limit than they report.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
            soft = needed
    if soft == resource.RLIM_INFINITY or soft >= connections * 3 + OTHER_FILES:
        return connections
    return max(10, (soft - OTHER_FILES) // 3)


class BufferingWorker(Worker):
    """A Gunicorn process that serves with Waitress."""

    def run(self) -> None:
        """Serve until told to stop; then finish open requests."""
        self.limits = limits()
        self.map: dict[int, Any] = {}
        self.next_look = 0.0
        self.threads = ThreadedTaskDispatcher()
        self.threads.set_thread_count(number("CHAINBOX_WEB_THREADS"))
        adjustments = self._adjustments()
        application = without_body_for_head(self.wsgi)
        self.listeners = [
            self._listener(one.sock, application, adjustments)
            for one in cast("list[Any]", self.sockets)
        ]
        # Waiting requests are normal and not worth a log line each.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        # Django's loaded modules stay, so the garbage collector need not scan them again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(GARBAGE_OBJECTS, *gc.get_threshold()[1:])
        while self.alive and self.ppid == os.getppid():
            self._turn()
        self._finish()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after finishing open requests, and wake the loop at once."""
        super().handle_exit(sig, frame)
        for listener in getattr(self, "listeners", ()):
            listener.pull_trigger()

    def _adjustments(self) -> Adjustments:
        return Adjustments(
            max_request_header_size=self.limits.header_bytes,
            max_request_body_size=self.limits.body_bytes + 1,
            inbuf_overflow=REQUEST_BUFFER,
            outbuf_overflow=REPLY_BUFFER,
            connection_limit=allow_files(self.limits.connections),
            asyncore_use_poll=True,
            # Django's settings alone decide which X-Forwarded-… headers to trust.
            clear_untrusted_proxy_headers=False,
            # A client that disconnects is not an error.
            log_socket_errors=False,
            ident=None,
        )

    def _listener(self, sock: Any, application: Application, adjustments: Adjustments) -> Listener:
        return Listener(
            application,
            self.map,
            True,
            sock,
            dispatcher=self.threads,
            adj=adjustments,
            sockinfo=(sock.family, sock.type, sock.proto, sock.getsockname()),
            bind_socket=False,
        )

    def _turn(self) -> None:
        self.notify()
        wasyncore.loop(timeout=1, use_poll=True, map=self.map, count=1)
        if time.monotonic() >= self.next_look:
            self.next_look = time.monotonic() + LOOK_SECONDS
            for listener in self.listeners:
                listener.close_late(self.limits)

    def _finish(self) -> None:
        """Accept no new connections, send the replies under way, and end the threads."""
        deadline = time.monotonic() + STOP_SECONDS
        for listener in self.listeners:
            listener.accepting = False
            listener.del_channel()
            cast("socket.socket", listener.socket).close()
        while True:
            for listener in self.listeners:
                listener.close_idle()
            busy = any(listener.channels for listener in self.listeners)
            if not busy or time.monotonic() > deadline:
                break
            self._turn()
        self.threads.shutdown(timeout=1)


class Server(BaseApplication):
    """Gunicorn with our settings; it reads neither its command line nor its files."""

    def load_config(self) -> None:
        """Set where to listen and with how many processes."""
        level = (os.environ.get("CHAINBOX_LOG_LEVEL") or "INFO").lower()
        settings: dict[str, object] = {
            "bind": where_to_listen(),
            "workers": processes(),
            "worker_class": BufferingWorker,
            "timeout": HUNG_SECONDS,
            "graceful_timeout": STOP_SECONDS + 1,
            "control_socket_disable": True,
            "loglevel": level,
        }
        if Path("/dev/shm").is_dir():
            # The heartbeat is a file, and must not wait for a slow disk.
            settings["worker_tmp_dir"] = "/dev/shm"
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the site's WSGI application."""
        from django.urls import get_resolver

        from config.wsgi import application

        # Import all views now, so that the first visitors need not wait for it.
        assert get_resolver().url_patterns
        return application


def main() -> int:
    """Serve until told to stop; 1 when a setting is wrong."""
    try:
        # Check all settings now to give a plain message: Gunicorn would print tracebacks.
        where_to_listen()
        for name in _SETTINGS:
            number(name)
    except SettingError as error:
        print(error, file=sys.stderr)
        return 1
    Server().run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
