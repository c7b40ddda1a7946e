"""A worker's accuracy, and its exact uncertainty, given how many answers were right.

Before any check every accuracy is as likely as any other. After r right of n, the accuracy has
the distribution Beta(r + 1, n − r + 1). For whole numbers its tail is a sum of binomial terms.
"""

import math
from functools import lru_cache

import msgspec

# The interval holds the true accuracy with this probability.
SURE = 0.95


class Accuracy(msgspec.Struct, frozen=True):
    """Right answers among those that were checked.

    >>> str(Accuracy(39, 45)), str(Accuracy(0, 0))
    ('87%, between 74% and 94%', 'not known yet')
    """

    right: int
    checks: int

    @property
    def share(self) -> float | None:
        return self.right / self.checks if self.checks else None

    @property
    def low(self) -> float:
        """The end below which the accuracy lies with at most 2.5% probability."""
        return quantile((1 - SURE) / 2, self.right, self.checks) if self.right else 0.0

    @property
    def high(self) -> float:
        return (
            quantile((1 + SURE) / 2, self.right, self.checks) if self.right < self.checks else 1.0
        )

    def __str__(self) -> str:
        if self.share is None:
            return "not known yet"
        return f"{self.share:.0%}, between {self.low:.0%} and {self.high:.0%}"


@lru_cache(maxsize=10_000)
def chance_at_least(accuracy: float, right: int, checks: int) -> float:
    """Return the probability that a worker's accuracy is at least this high, given their checks.

    One minus the regularised incomplete beta function: the probability of at most `right`
    successes in `checks` + 1 trials.

    >>> chance_at_least(0.8, 0, 0), round(chance_at_least(0.8, 8, 10), 3)
    (0.19999999999999996, 0.383)
    """
    if not 0 <= right <= checks:
        raise ValueError(f"{right} of {checks} answers cannot be right")
    if accuracy <= 0:
        return 1.0
    if accuracy >= 1:
        return 0.0
    trials = checks + 1
    if right == checks:  # all terms but one: the rest is exact
        return 1 - accuracy**trials
    yes, no = math.log(accuracy), math.log1p(-accuracy)
    terms = (
        math.exp(_log_choose(trials, k) + k * yes + (trials - k) * no) for k in range(right + 1)
    )
    return min(1.0, math.fsum(terms))


@lru_cache(maxsize=10_000)
def quantile(probability: float, right: int, checks: int) -> float:
    """Return the quantile of a worker's accuracy at this probability, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if 1 - chance_at_least(middle, right, checks) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
