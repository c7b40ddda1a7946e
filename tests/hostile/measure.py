"""Doing something in a child process, and what it cost: processor time, memory, life."""

import json
import os
import resource
import signal
import time
from collections.abc import Callable

import msgspec

# Far above what is asserted: a reader that is not bounded is to be stopped, not to stop others.
MOST_SECONDS = 20
MOST_WAITING = 120
MOST_BYTES = 3 * 2**30


class Outcome(msgspec.Struct, frozen=True):
    """What came of it. `megabytes` is the highest memory above what the child began with."""

    seconds: float
    megabytes: float
    refused: bool = False
    message: str = ""
    died: str = ""


def measure(action: Callable[[], str | None]) -> Outcome:
    """Run `action` in a fork of this process; it returns why it refused, or None.

    Memory is the fork's own: the kernel counts a child's peak from what it has at its birth.
    """
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        _report(action, outgoing)
    os.close(outgoing)
    status, usage = _wait(child)
    with os.fdopen(incoming) as reader:  # less than a pipe holds, so the child never waited
        told = reader.read()
    cost = msgspec.json.decode(told) if told else {}
    died = ""
    if os.WIFSIGNALED(status):
        died = f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    elif not told:
        died = f"ended with status {os.waitstatus_to_exitcode(status)}"
    return Outcome(
        seconds=usage.ru_utime + usage.ru_stime,
        megabytes=(usage.ru_maxrss - cost.get("before", 0)) / 1024,
        refused=cost.get("message") is not None,
        message=cost.get("message") or "",
        died=died or cost.get("died", ""),
    )


def _report(action: Callable[[], str | None], outgoing: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = _status("VmSize") * 1024 + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    told: dict[str, object] = {"before": _status("VmRSS")}
    try:
        message = action()
        told["message"] = None if message is None else message[:20_000]
    except MemoryError:
        told["died"] = "ran out of memory"
    except BaseException as error:
        told["died"] = f"{type(error).__name__}: {str(error)[:300]}"
    try:
        os.write(outgoing, json.dumps(told).encode())
    finally:
        os._exit(0)


def _wait(child: int) -> tuple[int, resource.struct_rusage]:
    until = time.monotonic() + MOST_WAITING
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return status, usage
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)


def _status(name: str) -> int:
    """Return a size of this process in kilobytes."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
