"""The lock files, and the script that writes them: everything is pinned, with its hashes."""

import re

import pytest
from packaging.requirements import Requirement
from pip._internal.models.link import Link

from scripts.lock import (
    UNHASHED,
    Package,
    elsewhere,
    environments,
    locked,
    needed,
    read_report,
    render,
)
from scripts.package_index import digests
from tests.processes import ROOT

A, B = "a" * 64, "b" * 64
PACKAGES = {
    "site": Package(
        "site", "1.0", (Requirement("base[fast]>=2"), Requirement("mac; sys_platform == 'darwin'"))
    ),
    "base": Package(
        "base", "2.0", (Requirement("speed; extra == 'fast'"), Requirement("slow; extra == 'slow'"))
    ),
    "speed": Package(
        "speed", "3.0", (Requirement("old; python_full_version < '3.11.3' and extra == ''"),)
    ),
    "tests": Package("tests", "4.0"),
}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_package_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text().replace(" \\\n", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) > 40
    for line in lines:
        assert re.fullmatch(
            r"[a-z0-9-]+==[^ ]+( ; [^#]+?)?(    --hash=sha256:[0-9a-f]{64})+", line
        ), line
        assert line.partition("==")[0] not in UNHASHED


def test_only_torch_has_no_hashes_and_the_runtime_is_part_of_everything() -> None:
    names = {
        name: dict(re.findall(r"^([a-z0-9-]+)==([^ \n]+)", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-dev.lock", "requirements-torch.lock")
    }
    assert set(names["requirements-torch.lock"]) == set(UNHASHED)
    assert names["requirements.lock"].items() <= names["requirements-dev.lock"].items()


def test_no_address_is_written_down() -> None:
    for file in ROOT.glob("requirements*.lock"):
        assert "://" not in file.read_text()
        assert "index" not in file.read_text().partition("\n")[2].replace("indexes", "")


def test_what_is_needed_is_followed_through_extras() -> None:
    here = environments()[0]
    found, missing = needed([Requirement("site")], PACKAGES, here)
    assert found == {"site", "base", "speed"}
    assert [requirement.name for requirement in missing] == ["old"]


def test_what_only_other_machines_need_is_found_with_its_marker() -> None:
    found = elsewhere([Requirement("site")], PACKAGES)
    assert found == {"mac": 'sys_platform == "darwin"', "old": ""}


def test_locked_versions_are_kept_while_they_fit() -> None:
    text = "# Written\nbase==2.0 \\\n    --hash=sha256:aa\nold==5.0.1 ; python_version < '3.12'\n"
    assert locked(text, [Requirement("base>=2"), Requirement("old")]) == [
        Package("base", "2.0"),
        Package("old", "5.0.1"),
    ]
    assert locked(text, [Requirement("base>=2.1")]) == [Package("old", "5.0.1")]


def test_a_report_of_pip_becomes_lines_with_hashes() -> None:
    report = {
        "install": [
            {
                "download_info": {"archive_info": {"hashes": {"sha256": B}}},
                "metadata": {"name": "Two_Words", "version": "1.5+cpu", "requires_dist": ["six"]},
            }
        ]
    }
    packages = read_report(report)
    text = render(
        [packages["two-words"]._replace(marker="os_name == 'posix'")], {"two-words": {A, B}}
    )
    assert text.splitlines()[1:] == [
        "two-words==1.5 ; os_name == 'posix' \\",
        f"    --hash=sha256:{A} \\",
        f"    --hash=sha256:{B}",
    ]


def test_a_package_without_a_hash_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"No index gives a hash of base 2\.0"):
        render([PACKAGES["base"]], {"base": set()})


def test_all_files_of_a_version_are_listed_and_no_others() -> None:
    links = [
        Link(f"https://files.example/base-2.0-cp311-cp311-macosx_11_0_arm64.whl#sha256={A}"),
        Link(f"https://files.example/base-2.0.tar.gz#sha256={B}"),
        Link("https://files.example/base-2.0.1.tar.gz#sha256=" + "c" * 64),
        Link("https://files.example/base-2.0-py3-none-any.whl#md5=" + "d" * 32),
        Link("https://files.example/notes.txt#sha256=" + "e" * 64),
    ]
    assert digests(links, "2.0") == {A, B}
