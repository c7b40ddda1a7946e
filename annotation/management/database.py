"""Commands that need the database: they refuse to run until it is migrated."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class DatabaseCommand(BaseCommand):
    """A command that first checks that the database is up to date."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError(
                "The database is not up to date: run `python manage.py migrate` first."
            )
        return super().execute(*args, **options)
