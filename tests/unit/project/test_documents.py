"""Every path that a document names exists."""

import re
import subprocess

import pytest

from tests.processes import ROOT

# A path has a folder or an ending; placeholders such as <stage> stand for any name.
NAMED = re.compile(
    r"(?<![\w/.:<>-])((?:[\w.<>*-]+/)*[\w<>*-]+\.(?:py|md|toml|html|tsx?|css|js|conf|json|yml|sql\.gz)"
    r"|(?:[\w.<>*-]+/)+)(?![\w/*<])"
)
# A bare name with another ending is mostly of a file that somebody else wrote.
BARE = (".py", ".md", ".ts", ".tsx", ".toml", ".yml")
# Names of files that users have, or that the product writes: not ours.
NOT_OURS = re.compile(
    r"^(?:Sentences|Annotations|photos|images|releases|media|var|\.venv|frontend/dist|node_modules|"
    r"frontend/node_modules|/|https?)|(?:^|/)(?:metrics\.json|crowd\.env|manifest\.json)$"
)


def tracked() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {line for line in listed.stdout.splitlines() if (ROOT / line).exists()}


def unknown(text: str, files: set[str]) -> list[str]:
    """Return the paths in backticks that are neither a file nor a folder, nor the end of one."""
    folders = {
        f"{'/'.join(parts[:n])}/"
        for f in files
        for parts in [f.split("/")]
        for n in range(1, len(parts))
    }
    known = files | folders
    found = []
    for quoted in re.findall(r"`([^`\n]+)`", text):
        for path in NAMED.findall(quoted) if " " not in quoted else []:
            pattern = re.escape(path).replace("<", "(?#").replace(">", ")[^/]+")
            pattern = pattern.replace(r"\*", "[^/]*")
            if "/" not in path and not path.endswith(BARE):
                continue
            if not NOT_OURS.match(path) and not any(
                re.search(rf"(?:^|/){pattern}$", name) for name in known
            ):
                found.append(path)
    return found


DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    if path.name != "CHANGELOG.md"
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    missing = unknown((ROOT / document).read_text(), tracked())
    assert not missing, f"{document} names {missing}, which are not there"


def test_what_is_missing_is_found() -> None:
    files = {"annotation/pipeline/engine.py", "frontend/src/stages/links/index.tsx"}
    good = "`pipeline/engine.py` `annotation/` `stages/<stage>/index.tsx` `stages/*/index.tsx`"
    assert unknown(good, files) == []
    assert unknown("`pipeline/motor.py` and `engines/`", files) == ["pipeline/motor.py", "engines/"]


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading.

    >>> anchor("Settings (`protocol/settings.py`)")
    'settings-protocolsettingspy'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_to_headings_lead_to_one(document: str) -> None:
    lost = []
    for page, wanted in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", (ROOT / document).read_text()):
        if page.startswith("http"):
            continue
        target = (ROOT / document).parent / page if page else ROOT / document
        headings = re.findall(r"^#+ (.+)$", target.read_text(), flags=re.MULTILINE)
        if wanted not in {anchor(heading) for heading in headings}:
            lost.append(f"{page}#{wanted}")
    assert not lost, f"{document} links to {lost}, which are not there"
