"""The available releases and word vectors: those in the folders that the settings name."""

from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from annotation.pipeline.release.folder import SPLITS

# Not a file: vectors are learned from the release's own captions.
CAPTIONS = "captions"
# The folder of photos in a release.
PHOTOS = "photos"


class Release(NamedTuple):
    """A release with its photos, and the number of images in each split."""

    name: str
    folder: Path
    splits: dict[str, int]

    @property
    def photos(self) -> Path:
        return self.folder / PHOTOS

    @property
    def has_photos(self) -> bool:
        return self.photos.is_dir()


def releases() -> list[Release]:
    """Return the available releases, sorted by name."""
    root = Path(settings.CHAINBOX_RELEASES)
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return [
        Release(folder.name, folder, _splits(folder))
        for folder in folders
        if not folder.name.startswith(".") and (folder / "Sentences").is_dir()
    ]


def release_find(name: str) -> Release | None:
    """Return the release of that name. Names come from forms, so only listed releases are found."""
    return next((release for release in releases() if release.name == name), None)


def vectors() -> list[str]:
    """Return the names of the available word vectors."""
    root = Path(settings.CHAINBOX_VECTORS)
    files = sorted(root.iterdir()) if root.is_dir() else []
    here = [file.name for file in files if file.is_file() and not file.name.startswith(".")]
    return [CAPTIONS, *here]


def vectors_path(name: str) -> str:
    """Return the source of the word vectors of that name."""
    return CAPTIONS if name == CAPTIONS else str(Path(settings.CHAINBOX_VECTORS) / name)


def _splits(folder: Path) -> dict[str, int]:
    counts = {}
    for split in SPLITS:
        file = folder / f"{split}.txt"
        if file.is_file():
            with file.open("rb") as lines:
                counts[split] = sum(1 for line in lines if line.strip())
    return counts
