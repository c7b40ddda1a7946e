"""A small release with photos made on the spot, and a small network, for tests of extraction."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

from annotation.pipeline.release.folder import ReleasedImage, read_image, write_image, write_splits
from grounding.pipeline.vision.backbones import Backbone
from tests.corpora import released

SIZE = (400, 300)


def picture(number: int, size: tuple[int, int] = SIZE) -> Image.Image:
    """Return a picture of coloured rectangles on a gradient, another one for each number."""
    random = np.random.default_rng(number)
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., number % 3] = np.linspace(0, 200, width, dtype=np.uint8)
    for _ in range(6):
        left, top = random.integers(0, width - 20), random.integers(0, height - 20)
        pixels[top : top + random.integers(10, 150), left : left + random.integers(10, 150)] = (
            random.integers(0, 255, 3)
        )
    return Image.fromarray(pixels)


def make_release(folder: Path, count: int) -> tuple[Path, Path]:
    """Write a release of that many images and their photos; return both folders."""
    release, photos = folder / "release", folder / "photos"
    photos.mkdir(parents=True)
    names = [f"image-{number:03}" for number in range(count)]
    for number, name in enumerate(names):
        write_image(release, released(name))
        picture(number).save(photos / f"{name}.jpg", quality=90)
    write_splits(release, {"train": names})
    return release, photos


def image_of(release: Path, number: int = 0) -> ReleasedImage:
    return read_image(release, f"image-{number:03}")


def small_backbone(label: str = "small", seed: int = 0) -> Backbone:
    """Return a real network, but of three thousand weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=4), nn.ReLU(), nn.Conv2d(16, 12, 3), nn.AdaptiveAvgPool2d(1)
        )
    return Backbone(label, module, dimensions=12, side=56, device="cpu")


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files under a folder, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
