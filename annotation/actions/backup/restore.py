"""Restoring a backup into an empty database of either engine, and its photos."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction
from django.db.models import (
    AutoField,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    CharField,
    Field,
    ForeignKey,
    IntegerField,
    Model,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    TextField,
)

from annotation import VERSION
from annotation.actions.backup.archive import (
    BATCH,
    Step,
    backup_models,
    columns_of,
    migrations_here,
    names_by_number,
)
from annotation.actions.corpus.photos import PhotoChangedError, photo_save
from annotation.pipeline.backup.archive import (
    Backup,
    BackupError,
    Manifest,
    Photo,
    Table,
    backup_open,
)

# Columns whose values are the same in JSON, in Python and in both databases. All others are
# converted, which costs more than the insert.
PLAIN: set[type] = {
    *(AutoField, BigAutoField, BigIntegerField, IntegerField),
    *(PositiveIntegerField, PositiveSmallIntegerField, BooleanField, CharField, TextField),
}


def backup_restore(*, path: Path, step: Step = lambda count: None) -> Manifest:
    """Restore a backup into this database, which must be migrated and empty, and its storage.

    All or nothing. `step` counts rows and photos twice: first all are checked, then restored.
    BackupError explains why it failed.
    """
    with backup_open(path) as backup:
        manifest = backup.manifest
        _migrations_compare(manifest)
        models = _models_of(manifest)
        _refuse_rows(models)
        backup.check(step)
        with _photos_taken_back() as saved, transaction.atomic():
            _refuse_rows(models)
            numbers: dict[type[Model], dict[tuple[str, ...], int]] = {
                model: {name: pk for pk, name in names_by_number(model).items()}
                for model in (ContentType, Permission)
            }
            for table, model in zip(manifest.tables, models, strict=True):
                try:
                    _table_restore(backup, table, model, numbers, step)
                except BackupError:
                    raise
                except (DatabaseError, ValueError) as error:
                    raise BackupError(f"{path}: {table.name}: {error}") from error
            try:
                connection.check_constraints()
            except DatabaseError as error:
                raise BackupError(f"{path} is inconsistent: {error}") from error
            for photo in manifest.photos:
                _photo_restore(backup, photo, saved)
                step(1)
        return manifest


def _migrations_compare(manifest: Manifest) -> None:
    here = migrations_here()
    theirs = {(app, name) for app, names in manifest.migrations.items() for name in names}
    ours = {(app, name) for app, names in here.items() for name in names}
    for difference, whose in ((theirs - ours, "the backup"), (ours - theirs, "this Chainbox")):
        if difference:
            app, name = min(difference)
            raise BackupError(
                f"the tables differ: {whose} has migration {name} of {app}, the other does not; "
                f"restore it with Chainbox {manifest.chainbox}, which wrote it, then migrate that "
                f"database (this is Chainbox {VERSION})"
            )


def _models_of(manifest: Manifest) -> list[type[Model]]:
    """Return the models of the manifest's tables; all of ours and no other, with our columns."""
    models = {model._meta.db_table: model for model in backup_models()}
    theirs = {table.name: table for table in manifest.tables}
    for name in sorted(models.keys() ^ theirs.keys()):
        where = "this Chainbox" if name in models else "the backup"
        raise BackupError(f"the tables differ: only {where} has {name}")
    for name, model in models.items():
        if theirs[name].columns != tuple(field.attname for field in columns_of(model)):
            raise BackupError(f"the tables differ: the backup has different columns in {name}")
    return [models[table.name] for table in manifest.tables]


def _refuse_rows(models: Sequence[type[Model]]) -> None:
    for model in models:
        if model._base_manager.exists():
            raise BackupError(
                f"this database is not empty: {model._meta.db_table} has rows; "
                "restore into a new, migrated database"
            )


def _table_restore(
    backup: Backup,
    table: Table,
    model: type[Model],
    numbers: dict[type[Model], dict[tuple[str, ...], int]],
    step: Step,
) -> None:
    columns = columns_of(model)
    quote = connection.ops.quote_name
    into = ", ".join(quote(str(field.column)) for field in columns)
    start = f"INSERT INTO {quote(table.name)} ({into}) VALUES "
    one = "(" + ", ".join(["%s"] * len(columns)) + ")"
    limit = connection.features.max_query_params
    size = max(1, min(BATCH, limit // len(columns))) if limit else BATCH
    named = [
        (i, f.related_model, numbers[f.related_model])
        for i, f in enumerate(columns)
        if f.related_model in numbers
    ]
    converted = [(i, f) for i, f in enumerate(columns) if type(_referred(f)) not in PLAIN]
    # Plain statements: bulk_create would set automatic time fields to the present.
    with connection.cursor() as cursor:
        for batch in backup.batches(table, size):
            for row in batch:
                for i, to, known in named:
                    row[i] = None if row[i] is None else _number(to, tuple(row[i]), known)
                for i, field in converted:
                    row[i] = field.get_db_prep_save(field.to_python(row[i]), connection)
            cursor.execute(start + ", ".join([one] * len(batch)), list(chain.from_iterable(batch)))
            step(len(batch))
    _last_number_restore(table, model)


def _number(model: type[Model], name: tuple[str, ...], known: dict[tuple[str, ...], int]) -> int:
    """Return this database's number of a content type or permission."""
    if name not in known:
        # It belongs to a model that no longer exists; only older databases have its name.
        *codename, app_label, model_name = name
        kind, _ = ContentType.objects.get_or_create(app_label=app_label, model=model_name)
        row: Model = kind
        if model is Permission:
            row, _ = Permission.objects.get_or_create(
                content_type=kind, codename=codename[0], defaults={"name": codename[0]}
            )
        known[name] = row.pk
    return known[name]


def _last_number_restore(table: Table, model: type[Model]) -> None:
    field = model._meta.auto_field
    if field is None or table.last_number is None:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence(%s, %s)::regclass, %s)",
                [connection.ops.quote_name(table.name), field.column, table.last_number],
            )
        else:
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table.name])
            cursor.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)",
                [table.name, table.last_number],
            )


def _photo_restore(backup: Backup, photo: Photo, saved: list[str]) -> None:
    if default_storage.exists(photo.name):
        with default_storage.open(photo.name) as there, backup.photo(photo) as ours:
            if any(chunk != ours.read(len(chunk)) for chunk in there.chunks()) or ours.read(1):
                raise BackupError(f"the file storage already has a different {photo.name}")
        return
    with backup.photo(photo) as stream:
        try:
            name = photo_save(photo.name, stream, photo.sha256)
        except PhotoChangedError as error:
            raise BackupError(f"{backup.path} has changed while it was read: {error}") from error
    saved.append(name)
    if name != photo.name:
        raise BackupError(f"the file storage does not accept the name {photo.name}")


@contextmanager
def _photos_taken_back() -> Iterator[list[str]]:
    """Yield a list for saved photos; if the restore fails, delete the photos in it."""
    saved: list[str] = []
    try:
        yield saved
    except BaseException:
        for name in saved:
            default_storage.delete(name)
        raise


def _referred(field: "Field[Any, Any]") -> "Field[Any, Any]":
    """Return the field itself, or the primary key that it refers to in the end."""
    while isinstance(field, ForeignKey):
        field = field.target_field
    return field
