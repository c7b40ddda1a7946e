"""Backup and restore, into separate databases, with both engines."""

import hashlib
import io
import os
import random
import shutil
import stat
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import psycopg2
import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test.utils import override_settings

from annotation import VERSION, models
from annotation.actions.backup.archive import backup_models
from annotation.actions.backup.restore import backup_restore
from annotation.pipeline.backup.archive import (
    FORMAT,
    MANIFEST,
    BackupError,
    Manifest,
    backup_open,
)

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.slow


class Site(msgspec.Struct, frozen=True):
    """A database and a folder for files, used by processes of their own."""

    url: str
    var: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"DATABASE_URL": self.url, "CHAINBOX_VAR": str(self.var)}
        return subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )

    def manage(self, *arguments: str) -> str:
        result = self.run("manage.py", *arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def make(self) -> None:
        result = self.run("-m", "tests.web.backup.backup_corpus", "make")
        assert result.returncode == 0, result.stderr


NewSite = Callable[[str], Site]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file to copy."""
    folder = tmp_path_factory.mktemp("migrated")
    site = Site(url=f"sqlite:///{folder}/empty.sqlite3", var=folder)
    site.manage("migrate", "--verbosity", "0")
    return folder / "empty.sqlite3"


@pytest.fixture
def new_site(migrated: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[NewSite]:
    """A function that makes an empty, migrated site on "sqlite" or "postgresql"."""
    made: list[tuple[str, str]] = []

    def make(engine: str) -> Site:
        var = tmp_path / uuid.uuid4().hex
        var.mkdir()
        if engine == "sqlite":
            shutil.copy(migrated, var / "db.sqlite3")
            return Site(url=f"sqlite:///{var}/db.sqlite3", var=var)
        server: str = request.getfixturevalue("postgres_url")
        name = f"backup_{uuid.uuid4().hex}"
        execute(server, f"CREATE DATABASE {name}")
        made.append((server, name))
        # Not urlunsplit: that drops the slashes of a URL without host.
        parts = urlsplit(server)
        site = Site(url=f"{parts.scheme}://{parts.netloc}/{name}?{parts.query}", var=var)
        site.manage("migrate", "--verbosity", "0")
        return site

    yield make
    for server, name in made:
        execute(server, f"DROP DATABASE {name}")


def execute(server: str, statement: str) -> None:
    connection = psycopg2.connect(server)
    try:
        connection.autocommit = True
        connection.cursor().execute(statement)
    finally:
        connection.close()


@pytest.fixture(scope="module")
def archive(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a site with a little of everything; not to be changed."""
    var = tmp_path_factory.mktemp("source")
    shutil.copy(migrated, var / "db.sqlite3")
    site = Site(url=f"sqlite:///{var}/db.sqlite3", var=var)
    site.make()
    site.manage("backup_write", str(var / "backup.zip"))
    return var / "backup.zip"


@pytest.fixture
def copy(archive: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(archive, tmp_path / "copy.zip"))


@pytest.fixture
def media(tmp_path: Path) -> Iterator[Path]:
    """The file storage of this test alone."""
    with override_settings(MEDIA_ROOT=tmp_path / "media"):
        yield tmp_path / "media"


def manifest_of(path: Path) -> Manifest:
    with backup_open(path) as backup:
        return backup.manifest


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, changed: dict[str, bytes | None]) -> None:
    """Rewrite a backup with other members; None leaves one out."""
    contents = members(path) | changed
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            if content is not None:
                archive.writestr(name, content)


def with_manifest(path: Path, **changes: object) -> None:
    manifest = msgspec.json.decode(members(path)[MANIFEST])
    rewrite(path, {MANIFEST: msgspec.json.encode(manifest | changes)})


def assert_untouched(media: Path) -> None:
    assert [m._meta.db_table for m in backup_models() if m._base_manager.exists()] == []
    assert not [path for path in media.rglob("*") if path.is_file()]


def assert_same(first: Path, second: Path) -> None:
    one, other = manifest_of(first), manifest_of(second)
    assert (one.tables, one.photos, one.migrations) == (
        other.tables,
        other.photos,
        other.migrations,
    )
    contents = members(first)
    del contents[MANIFEST]
    assert contents.items() <= members(second).items()


# --- There and back --------------------------------------------------------------------------


def there_and_back(source: Site, target: Site, folder: Path) -> None:
    source.make()
    first, second = folder / "first.zip", folder / "second.zip"
    source.manage("backup_write", str(first))
    said = target.manage("backup_restore", str(first))
    assert "Restored: " in said
    assert "every stored state is what its facts fold to" in said
    target.manage("backup_write", str(second))
    assert_same(first, second)
    # And it goes on from there: numbers that were given out are not given out again.
    last = {table.name: table.last_number for table in manifest_of(first).tables}
    made = target.run(
        "manage.py", "shell", "--verbosity", "0", "--command",
        "from django.contrib.auth.models import User; from annotation.models import Worker;"
        "print(User.objects.create_user('new').pk, Worker.objects.create(name='new').pk)",
    )  # fmt: skip
    assert last["auth_user"] == 2  # the account that was deleted
    assert made.stdout.split()[-2:] == ["3", str((last["annotation_worker"] or 0) + 1)], made.stderr


def test_sqlite_to_sqlite(new_site: NewSite, tmp_path: Path) -> None:
    there_and_back(new_site("sqlite"), new_site("sqlite"), tmp_path)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("source", "target"),
    [("postgresql", "postgresql"), ("sqlite", "postgresql"), ("postgresql", "sqlite")],
)
def test_with_postgresql(source: str, target: str, new_site: NewSite, tmp_path: Path) -> None:
    there_and_back(new_site(source), new_site(target), tmp_path)


@pytest.mark.parametrize(
    "engine", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
def test_others_write_meanwhile_and_are_not_in_it(
    engine: str, new_site: NewSite, tmp_path: Path
) -> None:
    site = new_site(engine)
    site.make()
    file = tmp_path / "backup.zip"
    result = site.run("-m", "tests.web.backup.backup_corpus", "backup_while_writing", str(file))
    assert result.returncode == 0, result.stderr
    assert b'"late"' not in members(file)["tables/annotation_worker.jsonl"]


# --- What is in it ---------------------------------------------------------------------------


def test_all_tables_with_rows_and_each_photo_once(archive: Path) -> None:
    manifest = manifest_of(archive)
    assert (manifest.format, manifest.chainbox, manifest.missing) == (FORMAT, VERSION, ())
    rows = {table.name: table.rows for table in manifest.tables}
    assert rows["annotation_image"] == 4
    assert rows["annotation_campaignsettings"] == 2
    for name in ("fact", "caption", "mention", "chain", "box", "openquestion", "storedstate"):
        assert rows[f"annotation_{name}"] > 0, name
    for name in ("user", "group", "user_groups", "group_permissions", "user_user_permissions"):
        assert rows[f"auth_{name}"] == 1, name
    assert not rows.keys() & {"django_session", "django_content_type", "auth_permission"}
    assert len(manifest.photos) == 1  # of four images: the same twice, one withdrawn, one without
    assert b"Zwei" in members(archive)["tables/annotation_caption.jsonl"]


def test_only_the_owner_can_read_it(archive: Path) -> None:
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_the_version_is_the_project_s() -> None:
    assert f'\nversion = "{VERSION}"\n' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.once
@pytest.mark.django_db
def test_restores_here(archive: Path, media: Path) -> None:
    out = io.StringIO()
    call_command("backup_restore", str(archive), stdout=out)
    assert "every stored state is what its facts fold to" in out.getvalue()
    assert User.objects.get().password.startswith("pbkdf2_sha256$")
    assert list(User.objects.get().user_permissions.all()) == [
        Permission.objects.get(codename="view_fact")
    ]
    assert [p.codename for p in Group.objects.get().permissions.all()] == ["change_image"]
    image = models.Image.objects.get(name="1")
    with default_storage.open(image.file) as photo:
        assert photo.read() == members(archive)[f"photos/{image.file}"]
    assert models.Image.objects.get(name="3").withdrawn_reason == "asked for"


@pytest.mark.once
@pytest.mark.django_db
def test_permissions_go_by_name_even_of_what_is_no_more(copy: Path, media: Path) -> None:
    table = "tables/auth_group_permissions.jsonl"
    line = members(copy)[table].replace(b"change_image", b"change_thing")
    line = line.replace(b'"image"', b'"thing"')
    rewrite_table(copy, "auth_group_permissions", line)
    backup_restore(path=copy)
    permission = Group.objects.get().permissions.get()
    assert permission.natural_key() == ("change_thing", "annotation", "thing")


def rewrite_table(path: Path, name: str, content: bytes) -> None:
    """Put other rows into a table of a backup, with their checksum."""
    manifest = msgspec.json.decode(members(path)[MANIFEST])
    for table in manifest["tables"]:
        if table["name"] == name:
            table["sha256"] = hashlib.sha256(content).hexdigest()
            table["rows"] = content.count(b"\n")
    rewrite(path, {f"tables/{name}.jsonl": content, MANIFEST: msgspec.json.encode(manifest)})


# --- Refusals --------------------------------------------------------------------------------


def refused(path: Path, why: str) -> None:
    with pytest.raises(CommandError, match=rf"^Nothing was restored: .*{why}"):
        call_command("backup_restore", str(path), stdout=io.StringIO())


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_refuses_a_truncated_file(copy: Path, media: Path, part: float) -> None:
    os.truncate(copy, int(copy.stat().st_size * part))
    refused(copy, "is not a backup, or it is incomplete or damaged")
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize("member", ["tables/annotation_fact.jsonl", "photos/", MANIFEST])
def test_refuses_a_flipped_byte(copy: Path, media: Path, member: str) -> None:
    with zipfile.ZipFile(copy) as archive:
        info = next(i for i in archive.infolist() if i.filename.startswith(member))
    content = bytearray(copy.read_bytes())
    # Past the member's own header, into its content.
    content[info.header_offset + 30 + len(info.filename) + 20 + info.compress_size // 2] ^= 0x10
    copy.write_bytes(content)
    refused(copy, "is damaged")
    assert_untouched(media)


def test_a_byte_flipped_anywhere_is_found_or_does_no_harm(copy: Path) -> None:
    content, whole = copy.read_bytes(), members(copy)
    chosen = random.Random(1)
    found = 0
    for _ in range(300):
        damaged = bytearray(content)
        damaged[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        copy.write_bytes(damaged)
        try:
            with backup_open(copy) as backup:
                backup.check(lambda count: None)
        except BackupError:
            found += 1
        else:
            assert members(copy) == whole
    assert found > 150  # the rest is dates, attributes and the like


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("member", "why"),
    [
        ("tables/auth_user.jsonl", "auth_user.jsonl is missing"),
        (MANIFEST, "is not a Chainbox backup"),
    ],
)
def test_refuses_a_missing_member(copy: Path, media: Path, member: str, why: str) -> None:
    rewrite(copy, {member: None})
    refused(copy, why)
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
def test_refuses_another_checksum_and_other_members(copy: Path, media: Path) -> None:
    worker = "tables/annotation_worker.jsonl"
    rewrite(copy, {worker: members(copy)[worker].replace(b"worker 1", b"worker X")})
    refused(copy, f"{worker} does not match its checksum")
    rewrite(copy, {"../escaped": b"x"})
    refused(copy, "contains files that its manifest does not list")
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["../escaped.png", "/escaped.png", "images/../../e.png", "a\\b"])
def test_refuses_photos_that_lead_out_of_the_storage(copy: Path, media: Path, name: str) -> None:
    photo = {"name": name, "size": 1, "sha256": "0" * 64}
    with_manifest(copy, photos=[photo])
    rewrite(copy, {f"photos/{name}": b"x"})
    refused(copy, "is not a valid name for a table or photo")
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
def test_refuses_other_migrations(copy: Path, media: Path) -> None:
    migrations = manifest_of(copy).migrations
    newer = migrations | {"annotation": (*migrations["annotation"], "9999_newer")}
    with_manifest(copy, migrations=newer)
    refused(copy, "the backup has migration 9999_newer of annotation")
    with_manifest(copy, migrations=migrations | {"annotation": migrations["annotation"][:-1]})
    refused(copy, f"this Chainbox has migration {migrations['annotation'][-1]} of annotation")
    with_manifest(copy, migrations=migrations, format=FORMAT + 1)
    refused(copy, f"has format {FORMAT + 1}")
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
def test_refuses_a_database_with_rows(archive: Path, media: Path) -> None:
    worker = models.Worker.objects.create(name="here first")
    refused(archive, "is not empty: annotation_worker has rows")
    assert list(models.Worker.objects.all()) == [worker]
    worker.delete()
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("table", "content", "why"),
    [
        # Fails at a table after many that went well, at the end, and in a row's shape.
        ("auth_user_groups", b"[1,77,1]\n", "is inconsistent"),
        ("auth_user_groups", b"[1,1,1]\n[1,1,1]\n", "auth_user_groups"),
        ("auth_user_groups", b"[1,1]\n", "has the wrong number of columns"),
    ],
)
def test_nothing_stays_of_a_restore_that_fails(
    copy: Path, media: Path, table: str, content: bytes, why: str
) -> None:
    rewrite_table(copy, table, content)
    refused(copy, why)
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
def test_refuses_a_storage_with_another_photo_of_that_name(archive: Path, media: Path) -> None:
    (photo,) = manifest_of(archive).photos
    default_storage.save(photo.name, ContentFile(b"other"))
    refused(archive, "the file storage already has a different")
    with default_storage.open(photo.name) as there:
        assert there.read() == b"other"
    default_storage.delete(photo.name)
    assert_untouched(media)


@pytest.mark.once
@pytest.mark.django_db
def test_a_photo_that_is_there_already_is_kept(archive: Path, media: Path) -> None:
    (photo,) = manifest_of(archive).photos
    default_storage.save(photo.name, ContentFile(members(archive)[f"photos/{photo.name}"]))
    backup_restore(path=archive)
    assert default_storage.listdir(str(Path(photo.name).parent))[1] == [Path(photo.name).name]


@pytest.mark.once
@pytest.mark.django_db
def test_dry_run_checks_and_restores_nothing(copy: Path, media: Path) -> None:
    out = io.StringIO()
    call_command("backup_restore", str(copy), "--dry-run", stdout=out)
    assert out.getvalue().startswith("The backup is complete: ")
    assert_untouched(media)


def test_writing_refuses_what_is_there_and_reports_photos_that_are_not(
    new_site: NewSite, tmp_path: Path
) -> None:
    site, file = new_site("sqlite"), tmp_path / "backups" / "backup.zip"
    assert "there is no folder" in site.run("manage.py", "backup_write", str(file)).stderr
    file.parent.mkdir()
    file.write_text("mine")
    result = site.run("manage.py", "backup_write", str(file))
    assert result.returncode == 1
    assert "already exists; use --force to overwrite it" in result.stderr
    assert file.read_text() == "mine"

    site.make()
    (photo,) = (site.var / "media").rglob("*.png")
    photo.write_bytes(b"rotten")
    result = site.run("manage.py", "backup_write", str(file), "--force")
    assert result.returncode == 1
    assert f"{photo.name} is not the photo that was imported" in result.stderr
    photo.unlink()
    result = site.run("manage.py", "backup_write", str(file), "--force")
    assert result.returncode == 1
    assert f"{photo.name} is not in the file storage" in result.stderr
    assert [Path(name).name for name in manifest_of(file).missing] == [photo.name]
    assert [path.name for path in file.parent.iterdir()] == [file.name]
