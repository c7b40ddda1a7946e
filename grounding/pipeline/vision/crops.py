"""Crop policies: which squares of a picture or region a network sees.

A region is stretched to a square whatever its shape, because regions can be very long; so is the
whole image. `ten` is the policy of the paper: the square is 8/7 as wide as the
network's input, and the crops are its four corners and its centre, each also mirrored.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from grounding.pipeline.boxes import Rect, clip
from grounding.pipeline.errors import GroundingError

CROPS = {"ten": 10, "centre": 1, "whole": 1}


class CropError(GroundingError):
    """A region has no pixels; the message says why."""


def crops_of(picture: Image.Image, box: Rect | None, policy: str, side: int) -> NDArray[np.uint8]:
    """Return the crops (CROPS[policy], side, side, 3) of a box, or of the whole RGB picture.

    The part of a box outside the picture is left out.
    """
    region = Rect(1, 1, *picture.size) if box is None else clip(box, *picture.size)
    if region is None:
        raise CropError(
            f"box {','.join(map(str, box or ()))} lies outside the "
            f"{picture.width}×{picture.height} photo"
        )
    # Cropped first: resizing a part of a picture would blend in the pixels beside it.
    cut = picture if box is None else picture.crop((region.x0 - 1, region.y0 - 1, *region[2:]))
    square = side if policy == "whole" else round(side * 8 / 7)
    resized = np.asarray(cut.resize((square, square), Image.Resampling.BILINEAR), dtype=np.uint8)
    if policy == "whole":
        return resized[None]
    end, middle = square - side, (square - side) // 2
    if policy == "centre":
        return resized[None, middle : middle + side, middle : middle + side]
    places = ((0, 0), (0, end), (end, 0), (end, end), (middle, middle))
    five = [resized[top : top + side, left : left + side] for top, left in places]
    return np.stack([*five, *(crop[:, ::-1] for crop in five)])
