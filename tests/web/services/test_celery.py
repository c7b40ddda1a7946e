"""A real task through a real broker to a real worker, by Redis and by files."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.cache.backends.filebased import FileBasedCache

from annotation.selectors.crowd.heartbeat import HEARTBEAT
from tests.processes import ROOT, environment, wait_for

SEND = """
import sys
from config.celery import app
app.send_task("tests.leave_file", args=[sys.argv[1]], queue=sys.argv[2])
"""


@contextmanager
def worker_running(
    folder: Path, queue: str, settings: dict[str, str], *included: str
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "worker.log").open("wb") as output:
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "celery", "--app=config", "worker", "--loglevel=INFO"),
                *("--pool=threads", "--concurrency=1", f"--queues={queue}"),
                f"--include={','.join(('tests.web.services.celery_probe', *included))}",
                f"--hostname={queue}@%h",
            ],
            env=settings,
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


def task_is_done(folder: Path, **variables: str) -> None:
    """Send the probe task and wait until a worker has done it."""
    settings = environment(CHAINBOX_VAR=str(folder / "var"), **variables)
    # A queue of its own: other tests may use the same Redis at the same time.
    queue = f"probe-{uuid.uuid4().hex}"
    done = folder / "done"
    log = folder / "worker.log"
    subprocess.run(
        [sys.executable, "-c", SEND, str(done), queue], env=settings, cwd=ROOT, check=True
    )
    assert not done.exists(), "the sender must not run the task itself"
    with worker_running(folder, queue, settings) as worker:
        wait_for(lambda: done.exists() or worker.poll() is not None, "the task")
        assert done.exists(), log.read_text()
        worker.terminate()
        assert worker.wait(timeout=30) == 0, log.read_text()


@pytest.mark.slow
def test_through_redis(tmp_path: Path, redis_url: str) -> None:
    task_is_done(tmp_path, REDIS_URL=redis_url)


@pytest.mark.slow
def test_through_files(tmp_path: Path) -> None:
    task_is_done(tmp_path)
    assert not list((tmp_path / "var" / "broker" / "messages").iterdir()), "nothing left over"


@pytest.mark.slow
def test_a_worker_sweeps_when_it_starts(tmp_path: Path) -> None:
    """Else the dashboard would say for half a minute that no background work is done."""
    settings = environment(CHAINBOX_VAR=str(tmp_path / "var"))
    beats = FileBasedCache(str(tmp_path / "var" / "cache"), {})
    with worker_running(tmp_path, "celery", settings):
        wait_for(lambda: beats.get(HEARTBEAT) is not None, "the first sweep")
