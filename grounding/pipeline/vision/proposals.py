"""Region proposals: where objects may be, by EdgeBoxes (Zitnick and Dollár, ECCV 2014).

EdgeBoxes counts the contours that lie wholly inside a box. It needs edges one pixel wide: with
thick ones it is fifty times slower, and its boxes are worse. A structured forest finds the edges
if a model file is given; otherwise they are gradients thinned across their direction.
"""

import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from common.files.whole import make_folder, write_bytes
from grounding.pipeline.boxes import Rect
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.vision.photos import Photo, PhotoError, PhotoGone, read_photo

DEFAULT_COUNT = 100
# Larger photos take longer, and their boxes are hardly better.
LONGEST_SIDE = 1000
VERSION = 1


class ProposalError(GroundingError):
    """Proposals cannot be made; the message gives the cause and a remedy."""


class EdgeBoxes:
    """Makes at most `count` boxes an image. Methods with the same `name` make the same boxes."""

    def __init__(self, count: int = DEFAULT_COUNT, model: Path | None = None) -> None:
        if count < 1:
            raise ProposalError(f"{count} proposals an image is too few; give 1 or more")
        self.count = count
        self._model = str(model) if model else ""
        edges = "sobel"
        if model is not None:
            try:
                edges = f"forest-{sha256(model.read_bytes()).hexdigest()[:12]}"
                cv2.ximgproc.createStructuredEdgeDetection(self._model)
            except (OSError, cv2.error) as error:
                raise ProposalError(f"{model}: not a structured-edge model: {error}") from error
        self.name = f"edgeboxes-{VERSION}-{edges}-{count}"

    def propose(self, picture: Image.Image) -> list[Rect]:
        """Return boxes of an RGB picture, best first."""
        longest = max(picture.size)
        small = picture
        if longest > LONGEST_SIDE:
            width, height = (max(1, side * LONGEST_SIDE // longest) for side in picture.size)
            small = picture.resize((width, height), Image.Resampling.BILINEAR)
        pixels = np.asarray(small, dtype=np.uint8)
        if min(pixels.shape[:2]) < 8:  # smaller than the method's smallest box
            return []
        edges, directions = self._edges(pixels)
        # The object keeps the state of its image, so each call needs its own.
        finder = cv2.ximgproc.createEdgeBoxes()
        finder.setMaxBoxes(self.count)
        found, _ = finder.getBoundingBoxes(edges, directions)
        across, down = picture.width / small.width, picture.height / small.height
        rects = [
            Rect(
                int(x * across) + 1,
                int(y * down) + 1,
                min(picture.width, max(int(x * across) + 1, round((x + width) * across))),
                min(picture.height, max(int(y * down) + 1, round((y + height) * down))),
            )
            for x, y, width, height in np.asarray(found).reshape(-1, 4).tolist()
        ]
        return list(dict.fromkeys(rects))

    def _edges(self, pixels: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        if not self._model:
            return thin_edges(pixels)
        forest = cv2.ximgproc.createStructuredEdgeDetection(self._model)
        thick = forest.detectEdges(pixels.astype(np.float32) / 255)
        directions = forest.computeOrientation(thick)
        edges = forest.edgesNms(thick, directions)
        return np.asarray(edges, np.float32), np.asarray(directions, np.float32)


def thin_edges(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return edges, 0 to 1, and the directions across them, 0 to π, both (height, width).

    `pixels` are RGB, (height, width, 3). An edge stays only where no neighbour across it is
    stronger.
    """
    grey = cv2.GaussianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (0, 0), 1).astype(np.float32)
    right = cv2.Sobel(grey, cv2.CV_32F, 1, 0)
    down = cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    # Not cv2.magnitude: its last digits, and so the boxes, depend on the array's address in memory.
    strength = np.sqrt(right * right + down * down)
    strongest = float(strength.max())
    directions = np.mod(np.arctan2(down, right), np.float32(np.pi)).astype(np.float32)
    if strongest == 0:
        return np.zeros(strength.shape, np.float32), directions
    with np.errstate(divide="ignore", invalid="ignore"):
        step_x = np.nan_to_num(right / strength)
        step_y = np.nan_to_num(down / strength)
    rows, columns = np.indices(strength.shape, dtype=np.float32)
    keep = strength > 0
    for sign in (-1, 1):
        beside = cv2.remap(
            strength,
            columns + sign * step_x,
            rows + sign * step_y,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        # Of two equal neighbours only one stays, or a symmetric edge would be two pixels wide.
        keep &= strength > beside if sign < 0 else strength >= beside
    return np.where(keep, strength / strongest, 0).astype(np.float32), directions


def cached_proposals(
    root: Path,
    folder: Path,
    photos: Mapping[str, Photo],
    method: EdgeBoxes,
    *,
    threads: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> dict[str, NDArray[np.int32]]:
    """Return the boxes (n, 4) of each image, best first; new ones are kept on disk.

    A photo that cannot be decoded has none; extraction reports why. Several processes may run
    this at once: each starts at a random photo, so that they seldom search the same one.
    """
    images = list(photos)
    start = random.randrange(len(images)) if images else 0

    def boxes(image: str) -> tuple[str, NDArray[np.int32]]:
        photo = photos[image]
        return image, _proposals_of(root, folder, photo, method)

    found: dict[str, NDArray[np.int32]] = {}
    with ThreadPoolExecutor(threads) as pool:
        for image, rects in pool.map(boxes, images[start:] + images[:start]):
            found[image] = rects
            progress(1)
    return found


def _proposals_of(root: Path, folder: Path, photo: Photo, method: EdgeBoxes) -> NDArray[np.int32]:
    path = root / "proposals" / method.name / photo.sha256[:2] / f"{photo.sha256}.boxes"
    try:
        return np.frombuffer(path.read_bytes(), dtype="<i4").reshape(-1, 4)
    except FileNotFoundError:
        pass
    try:
        rects = method.propose(read_photo(folder, photo.name, photo.sha256))
    except (PhotoError, PhotoGone):
        return np.empty((0, 4), np.int32)
    boxes = np.array(rects, dtype="<i4").reshape(-1, 4)
    make_folder(path.parent)
    write_bytes(path, [boxes.tobytes()])
    return boxes
