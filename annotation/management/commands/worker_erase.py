"""manage.py worker_erase: erase a worker's identity."""

import argparse
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.crowd.workers import worker_erase
from annotation.management.database import DatabaseCommand
from annotation.models import Worker


class Command(DatabaseCommand):
    help = (
        "Erase workers at their request: remove their ids and comments for good. Their "
        "judgments stay under a pseudonym. This cannot be undone."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "names", nargs="+", metavar="NAME", help="the worker's id on the marketplace"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        workers = {
            worker.name: worker for worker in Worker.objects.filter(name__in=options["names"])
        }
        for name in options["names"]:
            if name not in workers:
                raise CommandError(f"There is no worker {name!r}. Nothing was done.")
        for name, worker in workers.items():
            self.stdout.write(f"{name} is {worker_erase(worker=worker)} now")
