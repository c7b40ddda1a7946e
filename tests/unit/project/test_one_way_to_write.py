"""Files are written by common/files/whole.py alone: any other way may leave half of one."""

import ast
from collections.abc import Iterator

from tests.processes import ROOT

PACKAGES = ("annotation", "common", "config", "grounding", "marketplace")
METHODS = {
    *("write_text", "write_bytes", "tofile", "mkstemp", "NamedTemporaryFile", "fdopen"),
    *("copy2", "copyfile", "copyfileobj", "copytree", "save_file"),
}
OPENERS = {"open", "ZipFile", "GzipFile"}
ALLOWED = {
    # A lock, which stays empty.
    ("config/services/broker.py", "open"),
    # An archive in a file that is written whole, and the archive's members.
    ("annotation/pipeline/backup/archive.py", "ZipFile"),
    ("annotation/pipeline/backup/archive.py", "open"),
}


def writers(source: str) -> Iterator[str]:
    """Yield the names of the calls in a module that write files themselves.

    >>> list(writers("path.write_text('a'); open('b', 'w'); path.open(mode='xb'); open('c')"))
    ['write_text', 'open', 'open']
    >>> list(writers("write_text(path, 'a'); text.replace('w', 'x'); storage.open(name)"))
    []
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        is_method = isinstance(node.func, ast.Attribute)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if (is_method and name in METHODS) or (name in OPENERS and asks_to_write(node)):
            yield name


def asks_to_write(call: ast.Call) -> bool:
    """Tell whether a call that opens a file has a mode for writing among its arguments."""
    given = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [one.value for one in given if isinstance(one, ast.Constant)]
    modes = [text for text in texts if isinstance(text, str) and set(text) <= set("rwaxbt+")]
    return any(set(mode) & set("wax+") for mode in modes)


def test_no_module_writes_files_by_itself() -> None:
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in writers(path.read_text(encoding="utf-8")):
                found.add((str(path.relative_to(ROOT)), name))
    assert found == ALLOWED
