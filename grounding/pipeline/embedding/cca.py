"""Regularised canonical correlation analysis, and its normalised form.

Two sides of a pair, x (an image or a region) and y (a sentence or a phrase), are projected into
one space where they correlate most (Hotelling, 1936; the ridge is Vinod's, 1976):

    maximise  wₓᵀ Cxy w_y   subject to   wₓᵀ (Cxx + rₓ I) wₓ = w_yᵀ (Cyy + r_y I) w_y = 1.

With Cxx + rₓ I = Lx Lxᵀ and Cyy + r_y I = Ly Lyᵀ (Cholesky), the singular value decomposition

    Lx⁻¹ Cxy Ly⁻ᵀ = U diag(ρ) Vᵀ

gives all directions at once: Wx = Lx⁻ᵀ U, Wy = Ly⁻ᵀ V, with canonical correlations ρ.

A ridge is given relative to its side's mean variance: rₓ = ridge_x · trace(Cxx) / dx. So it means
the same whatever the features' scale, and 1 is as much as the data itself.
"""

from pathlib import Path

import msgspec
import numpy
import torch
from scipy.linalg.lapack import dpstrf
from scipy.sparse.linalg import eigsh

from grounding.pipeline.arrays import Float32, Float64, Floats, read_arrays, write_arrays
from grounding.pipeline.embedding.covariances import Covariances, best_device
from grounding.pipeline.errors import GroundingError

# If at most one direction in this many is needed, iterating beats a full decomposition.
FEW = 20
_NAMES = ("mean_x", "mean_y", "weights_x", "weights_y", "correlations")


class NotPositiveError(GroundingError):
    """A covariance matrix has directions without variance, and the ridge is too small for it."""


class NoCorrelationError(GroundingError):
    """The two sides of the pairs do not correlate."""


class CanonicalSpace(msgspec.Struct, frozen=True, eq=False):
    """What CCA found. weights_x: (dx, k); weights_y: (dy, k); correlations: (k,), descending."""

    mean_x: Float64
    mean_y: Float64
    weights_x: Float64
    weights_y: Float64
    correlations: Float64

    def project_x(self, x: Floats, power: float) -> Float32:
        """Return (x − x̄) Wx diag(ρ^power), rows of unit length; x: (n, dx) → (n, k) float32."""
        return self.scaled(self.coordinates_x(x), power)

    def project_y(self, y: Floats, power: float) -> Float32:
        """Return (y − ȳ) Wy diag(ρ^power), rows of unit length; y: (n, dy) → (n, k) float32."""
        return self.scaled(self.coordinates_y(y), power)

    def coordinates_x(self, x: Floats) -> Float32:
        """Return (x − x̄) Wx unscaled, (n, k), to try several powers with `scaled`."""
        return _projected(x, self.mean_x, self.weights_x)

    def coordinates_y(self, y: Floats) -> Float32:
        """Return (y − ȳ) Wy unscaled, (n, k)."""
        return _projected(y, self.mean_y, self.weights_y)

    def scaled(self, coordinates: Float32, power: float) -> Float32:
        """Return coordinates · diag(ρ^power), rows of unit length: the normalised form."""
        return unit_rows(coordinates * (self.correlations**power).astype(numpy.float32))

    def first(self, components: int) -> "CanonicalSpace":
        """Return the space of the `components` highest correlations alone."""
        return CanonicalSpace(
            self.mean_x,
            self.mean_y,
            self.weights_x[:, :components],
            self.weights_y[:, :components],
            self.correlations[:components],
        )

    def write(self, path: str | Path) -> None:
        write_arrays(path, {name: getattr(self, name) for name in _NAMES})

    @classmethod
    def read(cls, path: str | Path) -> "CanonicalSpace":
        """Read what `write` wrote; raise ArrayFileError if the file is anything else."""
        return cls(**read_arrays(path, _NAMES))


def fit(
    covariances: Covariances,
    *,
    ridge_x: float,
    ridge_y: float,
    components: int | None = None,
    device: str | None = None,
) -> CanonicalSpace:
    """Return the space of the `components` highest correlations; None means all.

    There are fewer if the pairs do not vary in so many directions: see `useful_components`.
    Up to half of the directions are found by the eigenvectors of T Tᵀ, where T = Lx⁻¹ Cxy Ly⁻ᵀ,
    whose eigenvalues are ρ²: faster than the full decomposition, and as exact but for ρ < 1e-6.
    """
    place = device or best_device()
    factor_x = ridge_factor(covariances.scatter_xx, covariances.count, ridge_x, "x", place)
    factor_y = ridge_factor(covariances.scatter_yy, covariances.count, ridge_y, "y", place)
    half = half_whitened(covariances, factor_y)
    useful = useful_components(covariances, components)
    return fit_factored(covariances, half, factor_x, factor_y, useful)


def useful_components(covariances: Covariances, wanted: int | None = None) -> int:
    """Return how many of the `wanted` directions (None: of all) can correlate at all.

    A side that varies in r directions has at most r correlations: n − 1 with n pairs, and fewer
    if five captions share one image. The ridge hides that. The correlations of further directions
    are rounding errors, and new features project on them as noise: with a power of 0 they would
    count as much as the best.
    """
    ranks = [_rank(scatter) for scatter in (covariances.scatter_xx, covariances.scatter_yy)]
    return max(1, min(ranks if wanted is None else [wanted, *ranks]))


def _rank(scatter: Float64) -> int:
    """Return in how many directions the features vary, beyond rounding errors.

    Cholesky decomposition with pivots (Higham, 2009) stops at the first pivot that is no larger
    than the rounding error of the float32 products behind `scatter`. That error was at most
    2.5 √d · ε of the largest variance in thousands of trials with d from 8 to 1,280.
    """
    rounding = 8 * numpy.sqrt(len(scatter)) * numpy.finfo(numpy.float32).eps
    *_, rank, _ = dpstrf(scatter, tol=rounding * scatter.diagonal().max(), lower=1)
    return int(rank)


def ridge_factor(
    scatter: Float64, count: int, ridge: float, side: str, device: str | None = None
) -> torch.Tensor:
    """Return L, lower triangular with L Lᵀ = C + r I, shape (d, d).

    A search over ridges needs it once for each ridge of a side, not for each pair of ridges.
    """
    if ridge < 0:
        raise ValueError(f"the ridge of {side} is {ridge}; it cannot be negative")
    covariance = torch.from_numpy(scatter).to(device or best_device()) / count
    covariance.diagonal().add_(ridge * covariance.diagonal().mean())
    factor: torch.Tensor
    factor, failed = torch.linalg.cholesky_ex(covariance)
    if int(failed):
        raise NotPositiveError(
            f"the features of {side} do not vary in all their {len(scatter)} directions "
            f"({count} pairs), and the ridge of {ridge} is too small to make up for it; use "
            "0.01 or more"
        )
    return factor


def half_whitened(covariances: Covariances, factor_y: torch.Tensor) -> torch.Tensor:
    """Return Cxy Ly⁻ᵀ, (dx, dy): the slowest part of a fit, and the same for every ridge of x."""
    cross = torch.from_numpy(covariances.scatter_xy).to(factor_y.device) / covariances.count
    half: torch.Tensor = torch.linalg.solve_triangular(factor_y.T, cross, upper=True, left=False)
    return half


def fit_factored(
    covariances: Covariances,
    half: torch.Tensor,
    factor_x: torch.Tensor,
    factor_y: torch.Tensor,
    components: int | None = None,
) -> CanonicalSpace:
    """Return the space for ridges that are already inside `factor_x`, `factor_y` and `half`.

    Directions whose correlation is no more than a rounding error are left out.
    """
    whitened = torch.linalg.solve_triangular(factor_x, half, upper=False)
    smaller = min(whitened.shape)
    kept = smaller if components is None else min(components, smaller)
    # The rounding error of a decomposition: max(m, n) · ε of the largest (Golub & Van Loan).
    rounding = max(whitened.shape) * torch.finfo(whitened.dtype).eps
    if 2 * kept <= smaller:
        left, rho, right = _truncated(whitened, kept)
        # These are square roots of eigenvalues, so we take the root of the error too.
        rounding = rounding**0.5
    else:
        left, rho, right_rows = torch.linalg.svd(whitened, full_matrices=False)
        left, rho, right = left[:, :kept], rho[:kept], right_rows.T[:, :kept]
    del whitened
    kept = int((rho > rounding * rho[0]).sum())
    if not kept:
        raise NoCorrelationError(
            f"nothing in the {covariances.count:,} pairs correlates, so there is no space to rank "
            "in; check that these are the right features, paired in the right order"
        )
    left, rho, right = left[:, :kept], rho[:kept], right[:, :kept]
    weights_x = torch.linalg.solve_triangular(factor_x.T, left, upper=True)
    weights_y = torch.linalg.solve_triangular(factor_y.T, right, upper=True)
    return CanonicalSpace(
        covariances.mean_x,
        covariances.mean_y,
        weights_x.cpu().numpy(),
        weights_y.cpu().numpy(),
        rho.cpu().numpy(),
    )


def _truncated(matrix: torch.Tensor, kept: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the `kept` leading singular vectors and values: (m, k), (k,), (n, k)."""
    rows, columns = matrix.shape
    if rows > columns:
        right, rho, left = _truncated(matrix.T, kept)
        return left, rho, right
    squares, vectors = _leading(matrix @ matrix.T, kept)
    rho = squares.flip(0).clamp(min=0).sqrt()
    left = vectors.flip(1)
    # A direction without correlation has no partner; dividing by zero would invent one.
    right = (matrix.T @ left) / rho.clamp(min=1e-12)
    return left, rho, right


def _leading(gram: torch.Tensor, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the `kept` largest eigenvalues, ascending, and their vectors: (k,), (m, k)."""
    if gram.device.type == "cpu" and kept * FEW <= len(gram):
        # Always from the same start, so that the same data gives the same space.
        start = numpy.ones(len(gram))
        values, vectors = eigsh(gram.numpy(), kept, which="LA", v0=start)
        order = numpy.argsort(values)
        return torch.from_numpy(values[order]), torch.from_numpy(vectors[:, order].copy())
    squares, every = torch.linalg.eigh(gram)
    return squares[-kept:], every[:, -kept:]


def _projected(rows: Floats, mean: Float64, weights: Float64) -> Float32:
    if rows.ndim != 2 or rows.shape[1] != len(mean):
        raise ValueError(
            f"the space was made for {len(mean)} numbers a row; these rows are {rows.shape}"
        )
    # Centred after the product, so that the features are only read, never copied.
    projected: Float32 = numpy.asarray(rows, dtype=numpy.float32) @ weights.astype(numpy.float32)
    projected -= (mean @ weights).astype(numpy.float32)
    return projected


def unit_rows(rows: Float32) -> Float32:
    """Return `rows` (n, k) scaled to length 1; rows of zeros stay as they are."""
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    result: Float32 = rows / lengths
    return result
