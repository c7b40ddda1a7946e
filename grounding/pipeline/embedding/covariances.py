"""The means and covariances of paired features, gathered in one pass over any number of pairs.

148,915 pairs of 4096 + 9000 numbers do not fit in memory; their covariances do (1.1 GB in
float64). Parts that several workers gathered are added with `+`, and the sum is what one worker
would have gathered from all pairs. Adding the pairs of two tasks is also what the paper calls
joint training.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import msgspec
import numpy
import torch

from grounding.pipeline.arrays import Float64, Floats, read_arrays, write_arrays
from grounding.pipeline.errors import GroundingError

# The number of pairs in one float32 product, which is then added to the float64 sums: enough for
# full speed, and few enough for rounding errors near 1e-6.
BLOCK = 4096
_SCATTERS = ("scatter_xx", "scatter_yy", "scatter_xy")
_NAMES = ("count", "mean_x", "mean_y", *_SCATTERS)


class Covariances(msgspec.Struct, frozen=True, eq=False):
    """Sums over n pairs (x, y), centred on their means, all in float64.

    scatter_xx = Σ (x − x̄)(x − x̄)ᵀ, shape (dx, dx); scatter_yy (dy, dy); scatter_xy (dx, dy).
    Divided by n they are the covariances.
    """

    count: int
    mean_x: Float64
    mean_y: Float64
    scatter_xx: Float64
    scatter_yy: Float64
    scatter_xy: Float64

    def __add__(self, other: Self) -> "Covariances":
        """Return the covariances of both sets of pairs together."""
        copies = {name: numpy.array(getattr(self, name)) for name in _SCATTERS}
        return msgspec.structs.replace(self, **copies).absorb(other)

    def absorb(self, other: Self) -> "Covariances":
        """Return the same sum in our own memory; do not use this object afterwards.

        scatter = scatter₁ + scatter₂ + (n₁ n₂ / n) δ δᵀ, where δ = mean₂ − mean₁ (Chan, Golub &
        LeVeque, 1979). Nothing large is subtracted from anything large, so no digits are lost.
        """
        if self.scatter_xy.shape != other.scatter_xy.shape:
            raise ValueError(
                f"covariances of {_size(self)} cannot be added to those of {_size(other)} numbers: "
                "they come from different features"
            )
        if not self.count or not other.count:
            return other if not self.count else self
        count = self.count + other.count
        step_x, step_y = other.mean_x - self.mean_x, other.mean_y - self.mean_y
        steps = ((step_x, step_x), (step_y, step_y), (step_x, step_y))
        for name, (left, right) in zip(_SCATTERS, steps, strict=True):
            scatter = getattr(self, name)
            scatter += getattr(other, name)
            _add_outer(scatter, self.count * other.count / count, left, right)
        return msgspec.structs.replace(
            self,
            count=count,
            mean_x=self.mean_x + step_x * (other.count / count),
            mean_y=self.mean_y + step_y * (other.count / count),
        )

    def write(self, path: str | Path) -> None:
        """Write a part of the sum to a file, for the worker that adds up the parts."""
        arrays = {name: numpy.asarray(getattr(self, name)) for name in _NAMES}
        write_arrays(path, arrays)

    @classmethod
    def read(cls, path: str | Path) -> "Covariances":
        """Read what `write` wrote; raise ArrayFileError if the file is anything else."""
        arrays = read_arrays(path, _NAMES)
        return cls(count=int(arrays.pop("count")), **arrays)


class CovarianceSum:
    """Gathers covariances block by block.

    Products are made in the features' own precision (float16 is first widened to float32) and
    summed in float64. All values are first shifted by the mean of the first block, so that
    the final centring loses no digits. With `device` "cuda" the products run on the GPU.
    """

    def __init__(self, device: str | None = None) -> None:
        self.device = torch.device(device or best_device())
        self.count = 0
        self._sums: list[Float64] = []
        self._shifts: tuple[Floats, Floats] | None = None

    def add(self, x: Floats, y: Floats) -> None:
        """Add pairs: row i of `x`, shape (n, dx), belongs to row i of `y`, shape (n, dy)."""
        if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
            raise ValueError(f"pairs need as many rows on both sides, not {x.shape} and {y.shape}")
        for start in range(0, len(x), BLOCK):
            self._add_block(_wide(x[start : start + BLOCK]), _wide(y[start : start + BLOCK]))

    def _add_block(self, x: Floats, y: Floats) -> None:
        if self._shifts is None:
            self._shifts = x.mean(axis=0), y.mean(axis=0)
            dx, dy = x.shape[1], y.shape[1]
            shapes: list[tuple[int, ...]] = [(dx,), (dy,), (dx, dx), (dy, dy), (dx, dy)]
            self._sums = [numpy.zeros(shape) for shape in shapes]
        shift_x, shift_y = self._shifts
        if x.shape[1] != len(shift_x) or y.shape[1] != len(shift_y):
            raise ValueError(
                f"this block has {x.shape[1]} + {y.shape[1]} numbers a pair, but those before it "
                f"{len(shift_x)} + {len(shift_y)}"
            )
        x, y = x - shift_x, y - shift_y
        self._sums[0] += x.sum(axis=0, dtype=numpy.float64)
        self._sums[1] += y.sum(axis=0, dtype=numpy.float64)
        if not (numpy.isfinite(self._sums[0]).all() and numpy.isfinite(self._sums[1]).all()):
            raise GroundingError(
                f"a feature in pairs {self.count + 1:,} to {self.count + len(x):,} contains a "
                "value that is not a finite number; extract the features again"
            )
        pairs = ((x, x), (y, y), (x, y))
        for total, (left, right) in zip(self._sums[2:], pairs, strict=True):
            # One product at a time saves memory: the largest is half as large as its sum.
            total += transposed_product(left, right, self.device)
        self.count += len(x)

    def result(self) -> Covariances:
        """Return the covariances of all pairs. They take over the memory of this sum."""
        if self._shifts is None:
            raise ValueError("no pair was added, so there are no covariances")
        sum_x, sum_y, xx, yy, xy = self._sums
        offset_x, offset_y = sum_x / self.count, sum_y / self.count
        shift_x, shift_y = self._shifts
        self._sums, self._shifts = [], None
        return Covariances(
            count=self.count,
            mean_x=shift_x.astype(numpy.float64) + offset_x,
            mean_y=shift_y.astype(numpy.float64) + offset_y,
            scatter_xx=_add_outer(xx, -self.count, offset_x, offset_x),
            scatter_yy=_add_outer(yy, -self.count, offset_y, offset_y),
            scatter_xy=_add_outer(xy, -self.count, offset_x, offset_y),
        )


def gather(blocks: Iterable[tuple[Floats, Floats]], device: str | None = None) -> Covariances:
    """Return the covariances of all pairs in `blocks`, each (n, dx) and (n, dy)."""
    total = CovarianceSum(device)
    for x, y in blocks:
        total.add(x, y)
    return total.result()


def best_device() -> str:
    """Return "cuda" where torch can use a GPU, and "cpu" elsewhere."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def transposed_product(left: Floats, right: Floats, device: torch.device) -> Floats:
    """Return leftᵀ right, shape (dl, dr), in the precision of its arguments."""
    if device.type != "cpu":
        return device_product(left, right, device)
    # numpy computes only half of leftᵀ left, which is symmetric; torch computes all of it.
    product: Floats = left.T @ right
    return product


def device_product(left: Floats, right: Floats, device: torch.device) -> Floats:
    """Return the same, computed on `device` by torch."""
    there = torch.from_numpy(left).to(device)
    other = there if right is left else torch.from_numpy(right).to(device)
    product: Floats = (there.T @ other).cpu().numpy()
    return product


def _wide(block: Floats) -> Floats:
    narrow = block.dtype not in (numpy.float32, numpy.float64)
    return block.astype(numpy.float32) if narrow else block


def _add_outer(total: Float64, weight: float, left: Float64, right: Float64) -> Float64:
    """Add weight · left rightᵀ to `total` in place, a few rows at a time to save memory."""
    for start in range(0, len(total), 512):
        rows = slice(start, start + 512)
        total[rows] += (weight * left[rows])[:, None] * right
    return total


def _size(covariances: Covariances) -> str:
    return " + ".join(str(side) for side in covariances.scatter_xy.shape)
