"""A mixture of Gaussians with diagonal covariances, fitted by expectation maximisation.

    p(x) = Σ_k w_k N(x; μ_k, diag(σ_k²))

It is fitted to word types: every word counts once, however often it occurs. Fitted to tokens, most
centres would gather round "a", "in" and "man", which cost 3.5 points of mean recall in one test.
"""

import msgspec
import numpy

from grounding.pipeline.arrays import Float64, Floats
from grounding.pipeline.progress import Report, silent

ROUNDS = 100
# No variance falls below this share of its dimension's variance over all words: a centre that
# holds a single word would otherwise shrink to a point.
LEAST_VARIANCE = 0.01
_ENOUGH = 1e-5


class Mixture(msgspec.Struct, frozen=True, eq=False):
    """`weights` (K,), `means` (K, d), `variances` (K, d)."""

    weights: Float64
    means: Float64
    variances: Float64

    def posteriors(self, vectors: Floats) -> Float64:
        """Return γ(k) = w_k N(x; μ_k, σ_k²) / p(x) for each row x of (n, d): shape (n, K)."""
        log_joint = self.log_joint(vectors)
        joint = numpy.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        result: Float64 = joint / joint.sum(axis=1, keepdims=True)
        return result

    def log_joint(self, vectors: Floats) -> Float64:
        """Return log w_k N(x; μ_k, σ_k²), shape (n, K)."""
        x = numpy.asarray(vectors, dtype=numpy.float64)
        precisions = 1 / self.variances
        # Σ_j (x_j − μ_j)²/σ_j², multiplied out so that no (n, K, d) array is needed.
        distances = x**2 @ precisions.T - 2 * x @ (self.means * precisions).T
        distances += (self.means**2 * precisions).sum(axis=1)
        norms = numpy.log(2 * numpy.pi * self.variances).sum(axis=1)
        result: Float64 = numpy.log(self.weights) - 0.5 * (norms + distances)
        return result


def fit_mixture(
    vectors: Floats, centres: int, *, seed: int = 0, report: Report = silent
) -> Mixture:
    """Fit `centres` Gaussians to the rows of `vectors`, (n, d); there must be as many rows."""
    x = numpy.asarray(vectors, dtype=numpy.float64)
    if not 1 <= centres <= len(x):
        raise ValueError(f"{centres} centres cannot be fitted to {len(x)} words")
    # Fitted round the origin, where multiplying the squares out loses no digits.
    origin = x.mean(axis=0)
    x = x - origin
    variance = x.var(axis=0)
    least = LEAST_VARIANCE * numpy.maximum(variance, variance.mean() * 1e-6 + 1e-12)
    means = _spread_out(x, centres, numpy.random.default_rng(seed))
    mixture = Mixture(
        numpy.full(centres, 1 / centres),
        means,
        numpy.tile(numpy.maximum(variance, least), (centres, 1)),
    )
    before = -numpy.inf
    for done in range(ROUNDS):
        report("fitting the mixture of words", done, ROUNDS)
        log_joint = mixture.log_joint(x)
        highest = log_joint.max(axis=1)
        likelihood = float((highest + _log_sum(log_joint, highest)).mean())
        if likelihood - before < _ENOUGH * abs(likelihood):
            break
        before = likelihood
        mixture = _maximised(x, mixture.posteriors(x), least)
    return Mixture(mixture.weights, mixture.means + origin, mixture.variances)


def _maximised(x: Float64, posteriors: Float64, least: Float64) -> Mixture:
    # Not quite zero, so that the mean of a centre without words stays a finite number.
    counts = posteriors.sum(axis=0) + 1e-10
    means = posteriors.T @ x / counts[:, None]
    variances = posteriors.T @ x**2 / counts[:, None] - means**2
    return Mixture(counts / counts.sum(), means, numpy.maximum(variances, least))


def _log_sum(log_joint: Float64, highest: Float64) -> Float64:
    result: Float64 = numpy.log(numpy.exp(log_joint - highest[:, None]).sum(axis=1))
    return result


def _spread_out(x: Float64, centres: int, random: numpy.random.Generator) -> Float64:
    """Choose rows far from one another (k-means++; Arthur & Vassilvitskii, 2007): (centres, d)."""
    chosen = [int(random.integers(len(x)))]
    nearest = ((x - x[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < centres:
        total = nearest.sum()
        shares = nearest / total if total > 0 else None
        chosen.append(int(random.choice(len(x), p=shares)))
        nearest = numpy.minimum(nearest, ((x - x[chosen[-1]]) ** 2).sum(axis=1))
    means: Float64 = x[chosen]
    return means
