"""What others send cannot write log lines of its own."""

import logging
import sys

import pytest

from config.logs import LineFormatter

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def record(message: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord("chainbox", logging.WARNING, "file", 1, message, values, None)


@pytest.mark.parametrize("sign", ["\n", "\r\n", "\x1b[2J", "\x00", "\x85", "\u2028", "\x7f"])
def test_a_message_stays_on_its_line(sign: str) -> None:
    forged = f"worker A1{sign}2026-11-17 INFO chainbox: admin signed in"
    line = LineFormatter(FORMAT).format(record("no such worker: %s", forged))
    assert sign not in line
    assert len(line.splitlines()) == 1
    assert line.isprintable()


def test_times_are_in_utc_and_say_so() -> None:
    said = record("hello")
    said.created, said.msecs = 1_800_000_000.25, 250.0
    assert LineFormatter(FORMAT).format(said).startswith("2027-01-15T08:00:00.250Z WARNING")


def test_a_traceback_keeps_its_lines() -> None:
    said = record("it failed")
    try:
        raise ValueError("why")
    except ValueError:
        said.exc_info = sys.exc_info()
    lines = LineFormatter(FORMAT).format(said).splitlines()
    assert lines[-1] == "ValueError: why"
    assert len(lines) > 3
