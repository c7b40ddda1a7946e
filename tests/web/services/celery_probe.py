"""A task for the tests: it leaves a file behind, which another process can see."""

from pathlib import Path

from celery import shared_task


@shared_task(name="tests.leave_file")
def leave_file(path: str) -> None:
    """Write to `path`."""
    Path(path).write_text("done")
