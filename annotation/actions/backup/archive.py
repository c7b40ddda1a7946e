"""Backing up all tables and photos; `restore` reads them back, into either engine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Field, Model

from annotation import VERSION
from annotation.pipeline.backup.archive import (
    FORMAT,
    BackupError,
    Manifest,
    Photo,
    Table,
    archive_create,
    manifest_write,
    photo_write,
    table_write,
)
from annotation.selectors.corpus.photo_files import images_with_photos, photos_stored

Step = Callable[[int], None]

BATCH = 1000
# Sessions are sign-ins, which end with the database. Every database makes and numbers its own
# content types and permissions, so rows that refer to one name it instead.
LEFT_OUT = {"sessions.session", "contenttypes.contenttype", "auth.permission"}


class Written(msgspec.Struct, frozen=True):
    """A finished backup; `altered` lists photos whose bytes differ from the imported ones."""

    manifest: Manifest
    altered: tuple[str, ...]


def backup_write(*, path: Path, force: bool = False, step: Step = lambda count: None) -> Written:
    """Write all tables, as they are at one moment, and their photos to an archive at `path`.

    Other writers are not blocked. BackupError explains why it failed; then there is no file.
    """
    with archive_create(path, force=force) as archive:
        with _snapshot():
            migrations = migrations_here()
            names = {model: names_by_number(model) for model in (ContentType, Permission)}
            tables = tuple(_table_write(archive, model, names, step) for model in backup_models())
            wanted = dict(_photos_wanted())
        # Outside the snapshot, to keep it short: a photo's name follows from its content.
        photos: list[Photo] = []
        missing: list[str] = []
        for name in wanted:
            photo = _photo_write(archive, name)
            if photo is None:
                missing.append(name)
            else:
                photos.append(photo)
            step(1)
        if missing:
            # Photos withdrawn since the snapshot are not missing.
            still = {name for name, _ in _photos_wanted()}
            missing = [name for name in missing if name in still]
        manifest = Manifest(
            format=FORMAT,
            chainbox=VERSION,
            written_at=datetime.now(UTC),
            migrations=migrations,
            tables=tables,
            photos=tuple(photos),
            missing=tuple(missing),
        )
        manifest_write(archive, manifest)
    altered = tuple(p.name for p in photos if wanted[p.name] not in {"", p.sha256})
    return Written(manifest=manifest, altered=altered)


def backup_models() -> list[type[Model]]:
    """Return the models whose tables are backed up, in order of the tables' names."""
    models = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.label_lower not in LEFT_OUT
    ]
    return sorted(models, key=lambda model: model._meta.db_table)


# --- Both ways -------------------------------------------------------------------------------


def columns_of(model: type[Model]) -> list["Field[Any, Any]"]:
    return [field for field in model._meta.local_concrete_fields if not field.generated]


def names_by_number(model: type[Model]) -> dict[int, tuple[str, ...]]:
    """Return the content types or permissions of this database by their number."""
    rows = model._base_manager.all()
    if model is Permission:
        rows = rows.select_related("content_type")
    # Both of these models have a natural key; models in general need not.
    return {row.pk: row.natural_key() for row in rows}  # type: ignore[attr-defined]


def migrations_here() -> dict[str, tuple[str, ...]]:
    """Return the migrations of this code by application; all must have been applied."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    if executor.migration_plan(graph.leaf_nodes()):
        raise BackupError("this database is not up to date: run `manage.py migrate` first")
    found: dict[str, tuple[str, ...]] = {}
    for app, name in sorted(graph.nodes):
        found[app] = (*found.get(app, ()), name)
    return found


# --- Writing ---------------------------------------------------------------------------------


@contextmanager
def _snapshot() -> Iterator[None]:
    """Read everything as it is at one moment, without a lock that writers would wait for."""
    if connection.vendor == "postgresql":
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    # The settings make transactions take SQLite's write lock; one that only reads needs none.
    connection.ensure_connection()
    sqlite: Any = connection
    mode = sqlite.transaction_mode
    sqlite.transaction_mode = "DEFERRED"
    try:
        with transaction.atomic(durable=True):
            yield
    finally:
        sqlite.transaction_mode = mode


def _table_write(
    archive: ZipFile,
    model: type[Model],
    names: dict[type[ContentType] | type[Permission], dict[int, tuple[str, ...]]],
    step: Step,
) -> Table:
    columns = columns_of(model)
    attributes = [field.attname for field in columns]
    named = [(i, names[f.related_model]) for i, f in enumerate(columns) if f.related_model in names]
    highest = 0

    def batches() -> Iterator[Sequence[Sequence[Any]]]:
        nonlocal highest
        key = attributes.index(model._meta.pk.attname)
        rows = model._base_manager.order_by("pk").values_list(*attributes)
        source = iter(rows.iterator(chunk_size=BATCH))
        while batch := list(islice(source, BATCH)):
            if isinstance(batch[-1][key], int):
                highest = batch[-1][key]
            yield [_with_names(row, named) for row in batch] if named else batch
            step(len(batch))

    table = table_write(archive, model._meta.db_table, attributes, batches())
    return msgspec.structs.replace(table, last_number=_last_number(model, highest))


def _with_names(
    row: Sequence[Any], named: Sequence[tuple[int, dict[int, tuple[str, ...]]]]
) -> list[Any]:
    changed = list(row)
    for i, names in named:
        changed[i] = None if row[i] is None else names[row[i]]
    return changed


def _last_number(model: type[Model], highest: int) -> int | None:
    """Return the last primary key given out: a deleted account's must not become another's."""
    field = model._meta.auto_field
    if field is None:
        return None
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass)",
                [connection.ops.quote_name(table), field.column],
            )
        else:
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        found = cursor.fetchone()
    last = (found[0] if found else None) or 0
    return max(last, highest) or None


def _photos_wanted() -> Iterator[tuple[str, str]]:
    """Yield the names of all photos in the file storage, each once, with their checksums."""
    for photo in photos_stored(images_with_photos()):
        yield photo.file, photo.sha256


def _photo_write(archive: ZipFile, name: str) -> Photo | None:
    try:
        stream = default_storage.open(name)
    except FileNotFoundError:
        return None
    with stream:
        return photo_write(archive, name, stream.chunks())
