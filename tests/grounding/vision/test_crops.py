"""Boxes and crops: which pixels of a photo a network sees."""

import doctest
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from grounding.cli import progress
from grounding.pipeline import boxes
from grounding.pipeline.boxes import Rect, clip, union
from grounding.pipeline.vision.crops import CROPS, CropError, crops_of
from grounding.pipeline.vision.torchvision_import import torchvision_models

numbers = st.integers(-50, 450)
rects = st.builds(
    lambda x, y, width, height: Rect(x, y, x + width, y + height),
    *[numbers] * 2,
    *[st.integers(0, 300)] * 2,
)


@given(st.lists(rects, min_size=1, max_size=5))
def test_a_union_is_the_smallest_box_round_all(some: list[Rect]) -> None:
    whole = union(some)
    for rect in some:
        assert whole.x0 <= rect.x0 <= rect.x1 <= whole.x1
        assert whole.y0 <= rect.y0 <= rect.y1 <= whole.y1
    for side in range(4):
        assert any(rect[side] == whole[side] for rect in some)


@given(rects, st.integers(1, 400), st.integers(1, 300))
def test_clipping_leaves_what_is_inside(rect: Rect, width: int, height: int) -> None:
    inside = clip(rect, width, height)
    across = range(max(rect.x0, 1), min(rect.x1, width) + 1)
    down = range(max(rect.y0, 1), min(rect.y1, height) + 1)
    if inside is None:
        assert not across or not down
    else:
        assert (inside.width, inside.height) == (len(across), len(down))
        assert clip(inside, width, height) == inside


@settings(max_examples=40, deadline=None)
@given(
    rect=st.none() | rects,
    size=st.tuples(st.integers(1, 400), st.integers(1, 300)),
    policy=st.sampled_from(sorted(CROPS)),
    side=st.sampled_from([7, 32, 56]),
)
def test_crops_of_any_box_have_the_shape_promised(
    rect: Rect | None, size: tuple[int, int], policy: str, side: int
) -> None:
    picture = Image.new("RGB", size, (10, 200, 30))
    if rect is not None and clip(rect, *size) is None:
        with pytest.raises(CropError, match="lies outside the"):
            crops_of(picture, rect, policy, side)
        return
    crops = crops_of(picture, rect, policy, side)
    assert crops.shape == (CROPS[policy], side, side, 3)
    assert (crops == (10, 200, 30)).all()


def noise(width: int = 90, height: int = 70) -> Image.Image:
    random = np.random.default_rng(1)
    return Image.fromarray(random.integers(0, 255, (height, width, 3), dtype=np.uint8))


def test_a_box_is_exactly_its_pixels() -> None:
    picture = noise()
    crops = crops_of(picture, Rect(11, 21, 66, 66), "whole", 56)
    expected = picture.crop((10, 20, 66, 66)).resize((56, 56), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(crops[0], np.asarray(expected))
    unscaled = crops_of(picture, Rect(11, 1, 66, 56), "whole", 56)
    np.testing.assert_array_equal(unscaled[0], np.asarray(picture)[:56, 10:66])


def test_ten_crops_are_those_of_torchvision() -> None:
    torchvision_models()
    from torchvision.transforms.functional import ten_crop  # type: ignore[import-untyped]  # no types

    picture = noise()
    crops = crops_of(picture, None, "ten", 56)
    square = picture.resize((64, 64), Image.Resampling.BILINEAR)
    expected = [np.asarray(crop) for crop in ten_crop(square, 56)]
    for crop in expected:
        assert any((crop == own).all() for own in crops)
    assert len({crop.tobytes() for crop in crops}) == 10
    centre = crops_of(picture, None, "centre", 56)
    np.testing.assert_array_equal(centre[0], expected[4])


def test_mirrored_photos_have_the_same_ten_crops() -> None:
    picture = noise(64, 64)
    mirrored = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    one, other = (
        sorted(crop.tobytes() for crop in crops_of(each, None, "ten", 56))
        for each in (picture, mirrored)
    )
    assert one == other


@pytest.mark.parametrize("module", [boxes, progress])
def test_the_examples_in_the_documentation_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
