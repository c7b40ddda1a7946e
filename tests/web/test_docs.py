"""The documentation is true: commands, options, links and defaults are those of the code."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from annotation.pipeline.settings import Settings, named_settings
from tests.processes import ROOT

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
COMMAND = re.compile(r"manage\.py (\w+)([^\n`|]*)")
LINK = re.compile(r"\]\(([^)#\s]+)[^)\s]*\)")


def ids(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_commands_and_their_options_exist(page: Path) -> None:
    known = get_commands()
    for name, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        assert name in known, f"{page.name} names a command {name}"
        app = known[name]
        assert isinstance(app, str)
        parser = load_command_class(app, name).create_parser("manage.py", name)
        options = {text for action in parser._actions for text in action.option_strings}
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest.split("#")[0]):
            assert option in options, f"{page.name}: {name} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in readme


def test_every_command_of_ours_is_in_the_documentation() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name, app in get_commands().items():
        if app == "annotation":
            assert name in text, f"no page tells of {name}"


def test_the_settings_table_gives_every_setting_and_its_default() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", page, re.MULTILINE))

    def words(value: object) -> str:
        if isinstance(value, tuple):
            return ", ".join("/".join(v) if isinstance(v, tuple) else str(v) for v in value)
        if isinstance(value, dict):
            return ", ".join(f"{stage} {number}" for stage, number in value.items())
        return str(value)

    wanted = {name: words(value) for name, value in named_settings(Settings()) if name != "version"}
    assert told == wanted
