"""The hashes of a version's files, from the indexes that pip is configured to use.

This uses pip's own reader: it knows the index's address, certificates, passwords and both forms of
index pages, so nothing has to be configured again here.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version
from pip._internal.commands import create_command
from pip._internal.index.collector import IndexContent, LinkCollector, parse_links
from pip._internal.models.link import Link

AT_ONCE = 8
NOT_FOUND = 404


def hashes_of(versions: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the SHA-256 hashes of all files of each package's version, for all platforms."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(lambda item: digests(_links(item[0]), item[1]), versions.items())
        return dict(zip(versions, found, strict=True))


def digests(links: Iterable[Link], version: str) -> set[str]:
    """Return the hashes of the links that are files of this version."""
    wanted = Version(version)
    return {
        link.hash
        for link in links
        if link.hash_name == "sha256" and link.hash and file_version(link.filename) == wanted
    }


def file_version(filename: str) -> Version | None:
    """Return the version in a file's name; None if the file is not a package.

    >>> file_version("torch-2.13.0-cp311-none-macosx_11_0_arm64.whl")
    <Version('2.13.0')>
    >>> file_version("six-1.17.0.tar.gz"), file_version("six.exe")
    (<Version('1.17.0')>, None)
    """
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def _links(name: str) -> list[Link]:
    # One per thread: pip's sessions are not meant to be shared.
    command = create_command("install")
    options, _ = command.parse_args([])
    with command._build_session(options) as session:  # type: ignore[attr-defined]
        collector = LinkCollector.create(session, options=options)
        locations = collector.search_scope.get_index_urls_locations(name)
        pages = [
            _page(collector, Link(location)) for location in locations if _is_there(Link(location))
        ]
        return [link for page in pages if page is not None for link in parse_links(page)]


def _is_there(location: Link) -> bool:
    """An index that is a local folder need not have everything."""
    return not location.is_file or Path(location.file_path).exists()


def _page(collector: LinkCollector, location: Link) -> IndexContent | None:
    """Return the index's page of a package, or None; an incomplete list is useless."""
    page = collector.fetch_response(location)
    if page is None and not location.is_file:
        status = collector.session.get(location.url).status_code
        if status != NOT_FOUND:
            raise SystemExit(f"An index answers {status} for {location.filename}. Try again later.")
    return page
