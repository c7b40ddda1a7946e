"""Tables are changed in an application's actions alone; the syntax trees of all others show it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import ROOT

# Where each application writes. Models and migrations describe tables; pipelines know no database,
# as import contracts make sure.
WRITERS = {
    "annotation": ("actions/",),
    "grounding": ("actions.py",),
    "marketplace": ("actions/",),
}
NOT_READ = ("migrations/", "models/", "models.py", "pipeline/", "rules/")
# Querysets and models have these; nothing else that these applications use does.
METHODS = {
    prefix + name
    for prefix in ("", "a")
    for name in (
        *("create", "bulk_create", "get_or_create", "update_or_create"),
        *("save", "save_base", "bulk_update", "delete", "raw_delete"),
    )
} | {"_raw_delete", "_update", "_insert", "executemany", "cursor"}
HITS = "annotation/actions/crowd/hits.py"


def writes(source: str) -> Iterator[str]:
    """Yield what a module uses to change tables.

    Only the `update` of a queryset is called with nothing but keywords.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            yield node.attr
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("update", "aupdate")
            and node.keywords
            and not node.args
        ):
            yield node.func.attr


def modules(application: str) -> Iterator[tuple[str, str]]:
    """Yield the path, within the application, and the text of each module that may not write."""
    skipped = (*WRITERS[application], *NOT_READ)
    for path in sorted((ROOT / application).rglob("*.py")):
        name = path.relative_to(ROOT / application).as_posix()
        if not name.startswith(skipped):
            yield name, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("application", WRITERS)
def test_only_actions_write(application: str) -> None:
    found = [(name, way) for name, source in modules(application) for way in writes(source)]
    assert found == []


@pytest.mark.parametrize("application", WRITERS)
def test_the_modules_that_write_are_where_they_are_said_to_be(application: str) -> None:
    for where in WRITERS[application]:
        place: Path = ROOT / application / where
        sources = place.rglob("*.py") if place.is_dir() else [place]
        assert any(list(writes(path.read_text(encoding="utf-8"))) for path in sources), where
    assert len(list(modules(application))) > 5


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("models.Hit.objects.create(places=1)", ["create"]),
        ("models.Hit.objects.filter(pk=1).update(places=2)", ["update"]),
        ("models.Hit.objects.filter(pk=1).update(**changes)", ["update"]),
        ("def f(hit: Hit) -> None:\n    hit.places = 2\n    hit.save(update_fields=[])", ["save"]),
        ("list(map(models.Hit.objects.get_or_create, rows))", ["get_or_create"]),
        ("with connection.cursor() as c:\n    c.execute('DELETE FROM hit')", ["cursor"]),
        ("async def f(q: Q) -> None:\n    await q.adelete()", ["adelete"]),
        ("digest.update(part); kept.update(found); seen.update()", []),
        ("models.Hit.objects.filter(places=1).exists()", []),
    ],
)
def test_a_module_that_writes_is_found(source: str, found: list[str]) -> None:
    assert list(writes(source)) == found


def hit_changes(source: str) -> Iterator[str]:
    """Yield where a module sets a HIT's status: in an assignment, or as a value to be saved."""
    for node in ast.walk(ast.parse(source)):
        values: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Attribute) for t in targets for one in ast.walk(t)):
                values = [node.value]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"update", "Hit"} | METHODS
        ):
            values = [word.value for word in node.keywords]
        for value in values:
            if any(isinstance(one, ast.Name) and one.id == "HitStatus" for one in ast.walk(value)):
                yield ast.unparse(node)


def test_one_module_holds_the_life_of_a_hit() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "annotation").rglob("*.py")
        if "migrations" not in path.parts and list(hit_changes(path.read_text(encoding="utf-8")))
    }
    assert found == {HITS}


@pytest.mark.parametrize(
    "source",
    [
        "hit.status = HitStatus.OPEN",
        "hit.status, hit.is_free = (HitStatus.CLOSED, False)",
        "models.Hit.objects.filter(pk=1).update(status=HitStatus.CLOSING)",
        "models.Hit(status=HitStatus.OPEN)",
    ],
)
def test_a_change_of_a_hit_is_found(source: str) -> None:
    assert list(hit_changes(source)) == [source]
