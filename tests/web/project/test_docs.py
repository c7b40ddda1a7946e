"""The documentation is true: commands, options and links are those of the code.

Defaults of settings are compared in tests/unit/protocol/test_settings.py.
"""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

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
