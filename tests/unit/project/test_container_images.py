"""Container images are named by digest, and the script that moves the digests on."""

import pytest

from scripts.images import DIGEST, FILES, images, pinned
from tests.processes import ROOT

NEW = "sha256:" + "ab" * 32
TEXT = """\
FROM node:24-slim@sha256:1234 AS frontend
FROM frontend
COPY --from=frontend /a /b
  app:
    build: .
    image: chainbox
  db:
    image: registry.example/postgres:17
"""


@pytest.mark.parametrize("name", FILES)
def test_every_image_has_a_digest(name: str) -> None:
    found = images((ROOT / name).read_text())
    assert len(found) >= 2
    for image, digest in found:
        assert DIGEST.fullmatch(digest), f"{image} has no digest: make images"


def test_images_are_found_with_and_without_a_digest() -> None:
    assert images(TEXT) == [("node:24-slim", "sha256:1234"), ("registry.example/postgres:17", "")]


def test_every_image_is_pinned_and_nothing_else_changes() -> None:
    asked: list[str] = []

    def digest_of(image: str) -> str:
        asked.append(image)
        return NEW

    after = pinned(TEXT, digest_of)
    assert asked == ["node:24-slim", "registry.example/postgres:17"]
    assert after.replace("@" + NEW, "") == TEXT.replace("@sha256:1234", "")
    assert [digest for _, digest in images(after)] == [NEW, NEW]


def test_what_is_no_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="is no digest of node:24-slim"):
        pinned(TEXT, lambda image: "")
