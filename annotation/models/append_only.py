"""Append-only tables: a database trigger refuses every change and deletion."""

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Grouped by the migration that protects them.
FOUNDATION = ("annotation_fact", "annotation_campaignsettings")
CROWD = ("annotation_trustevent", "annotation_payment")
TABLES = (*FOUNDATION, *CROWD)


def protect(editor: BaseDatabaseSchemaEditor, tables: Sequence[str] = TABLES) -> None:
    """Install the triggers."""
    if editor.connection.vendor == "postgresql":
        editor.execute(
            """
            CREATE OR REPLACE FUNCTION chainbox_append_only() RETURNS trigger AS $$
            BEGIN
                RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
                    USING ERRCODE = 'restrict_violation';
            END
            $$ LANGUAGE plpgsql
            """,
            params=None,  # the % above is the database's, not a placeholder
        )
    for table in tables:
        for statement in _create(editor.connection.vendor, table):
            editor.execute(statement)


def release(editor: BaseDatabaseSchemaEditor, tables: Sequence[str] = TABLES) -> None:
    """Remove the triggers, to migrate backwards or to empty a test database."""
    on_table = editor.connection.vendor == "postgresql"
    for table in tables:
        for event in ("update", "delete", "truncate"):
            name = f"{table}_no_{event}"
            suffix = f" ON {table}" if on_table else ""
            editor.execute(f"DROP TRIGGER IF EXISTS {name}{suffix}")


def _create(vendor: str, table: str) -> list[str]:
    if vendor == "sqlite":
        return [
            f"CREATE TRIGGER {table}_no_{event} BEFORE {event} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            for event in ("update", "delete")
        ]
    return [
        f"CREATE TRIGGER {table}_no_{event} BEFORE {event} ON {table} "
        f"FOR EACH {'STATEMENT' if event == 'truncate' else 'ROW'} "
        "EXECUTE FUNCTION chainbox_append_only()"
        for event in ("update", "delete", "truncate")
    ]
