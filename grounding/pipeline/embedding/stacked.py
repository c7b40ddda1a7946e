"""Stacked auxiliary embedding (Gong et al., ECCV 2014), as section 3.1 uses it.

A space trained on other pairs (regions and phrases) gives further features of images and
sentences: its projection is appended to the original features,

    x̂ = [x, s · project_x(x)],   ŷ = [y, t · project_y(y)].

The image–sentence space is then trained on the stacks. The projections have unit length, so they
are not linear functions of x or y; if they were, the stack would add nothing for CCA.
"""

import msgspec
import numpy

from grounding.pipeline.arrays import Float32, Floats
from grounding.pipeline.embedding.cca import CanonicalSpace


class Stacking(msgspec.Struct, frozen=True, eq=False):
    """How features are stacked: the auxiliary space, its power, and s and t of both sides."""

    space: CanonicalSpace
    power: float
    scale_x: float
    scale_y: float

    def stack_x(self, x: Floats) -> Float32:
        """Return [x, s · project_x(x)]: (n, dx) → (n, dx + k)."""
        return _stacked(x, self.space.project_x(x, self.power), self.scale_x)

    def stack_y(self, y: Floats) -> Float32:
        """Return [y, t · project_y(y)]: (n, dy) → (n, dy + k)."""
        return _stacked(y, self.space.project_y(y, self.power), self.scale_y)


def stacking_of(
    space: CanonicalSpace, power: float, x: Floats, y: Floats, *, share: float = 1.0
) -> Stacking:
    """Choose the scales so that a projection varies `share` times as much as its original.

    x (n, dx) and y (n, dy) are a sample of training features. A ridge treats all numbers of a
    stack alike, so without a common scale one part would dominate.
    """
    if share <= 0:
        raise ValueError(f"a share of {share} would leave nothing of the auxiliary embedding")
    return Stacking(
        space,
        power,
        scale_x=_scale(x, space.project_x(x, power), share),
        scale_y=_scale(y, space.project_y(y, power), share),
    )


def _scale(original: Floats, projected: Float32, share: float) -> float:
    before, after = (
        float(numpy.var(side, axis=0, dtype=numpy.float64).sum()) for side in (original, projected)
    )
    return float(numpy.sqrt(share * before / after)) if before > 0 and after > 0 else 1.0


def _stacked(original: Floats, projected: Float32, scale: float) -> Float32:
    wide = numpy.asarray(original, dtype=numpy.float32)
    return numpy.concatenate([wide, numpy.float32(scale) * projected], axis=1)
