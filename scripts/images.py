"""Pins the container images by digest, or updates the pins: `make images`, where Docker is.

A tag can be pointed at something else at any time; a digest is the image's own hash. The tag stays
next to it, for readers, and for this script to look up.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("Dockerfile", "docker-compose.yml")
# `FROM name:tag` and `image: name:tag`. Our own image and the Dockerfile's stages have no tag.
IMAGE = re.compile(
    r"^(?P<before>FROM |\s+image: )(?P<image>[a-z0-9./_-]+:[A-Za-z0-9._-]+)(?P<pin>@sha256:\w*)?",
    re.MULTILINE,
)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def images(text: str) -> list[tuple[str, str]]:
    """Return the images that a file names, each with its digest, if any."""
    return [(found["image"], (found["pin"] or "")[1:]) for found in IMAGE.finditer(text)]


def pinned(text: str, digest_of: Callable[[str], str]) -> str:
    """Return the file's text with every image pinned to its tag's current digest."""

    def pin(found: re.Match[str]) -> str:
        digest = digest_of(found["image"])
        if not DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no digest of {found['image']}")
        return f"{found['before']}{found['image']}@{digest}"

    return IMAGE.sub(pin, text)


def look_up(image: str) -> str:
    """Ask the image's registry for the digest of its tag, which covers all platforms."""
    return subprocess.run(
        [
            *("docker", "buildx", "imagetools", "inspect", image),
            *("--format", "{{.Manifest.Digest}}"),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()


def main() -> None:
    """Update the pins in both files, and print the changes."""
    for name in FILES:
        file = ROOT / name
        before = file.read_text()
        try:
            after = pinned(before, look_up)
        except FileNotFoundError:
            raise SystemExit("This needs Docker, which is not on this machine.") from None
        except (subprocess.CalledProcessError, ValueError) as error:
            raise SystemExit(f"Nothing in {name} has changed: {error}") from None
        file.write_text(after)
        for (image, old), (_, new) in zip(images(before), images(after), strict=True):
            print(f"{name}: {image} {'is at' if old == new else 'moved to'} {new}")


if __name__ == "__main__":
    main()
