"""Whether two ways of annotating the same images are equally good: a paired bootstrap."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annotation.pipeline.corpus import captions_of, mentions_of_sentences
from annotation.pipeline.engine import begin
from annotation.pipeline.release import ReleasedImage
from annotation.pipeline.scoring import Score
from annotation.pipeline.settings import Settings
from annotation.pipeline.state import ImageState
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import Crowd
from annotation.simulation.report import SimulationReport
from annotation.simulation.work import work_in_memory

SAMPLES = 2000


class Quality(NamedTuple):
    """How one image came out, of chains and of boxes."""

    chains: Score
    boxes: Score


class Interval(NamedTuple):
    """Where a difference lies with some certainty, in points of F1, and what it was."""

    low: float
    high: float
    observed: float

    def __str__(self) -> str:
        return f"{self.observed:+.2f} points, from {self.low:+.2f} to {self.high:+.2f}"

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def holds_nothing(self) -> bool:
        """Whether it may well be no difference at all."""
        return self.low <= 0 <= self.high


def quality_of(state: ImageState, key: AnswerKey) -> Quality:
    report = SimulationReport()
    report.add(state, key, [], Settings())
    return Quality(report.chain_score, report.box_scores[0.5])


def directly(image: ReleasedImage, key: AnswerKey, crowd: Crowd) -> Quality:
    """Let a crowd work on an image without any site, and score that."""
    state = begin(
        captions_of(image.sentences),
        mentions_of_sentences(image.sentences),
        width=image.width,
        height=image.height,
        settings=Settings(),
    )
    state, _ = work_in_memory(state, key, crowd, image.image, Settings())
    return quality_of(state, key)


def difference(
    ours: Mapping[str, Quality],
    theirs: Mapping[str, Quality],
    what: str,
    names: Sequence[str],
    certainty: float = 95,
    seed: int = 0,
) -> Interval:
    """Draw images again and again, the same for both, and see how far apart the two then are."""
    one = _sums([getattr(ours[name], what) for name in names])
    other = _sums([getattr(theirs[name], what) for name in names])
    drawn = np.random.default_rng(seed).integers(len(names), size=(SAMPLES, len(names)))
    apart = 100 * (_f1(one[drawn].sum(axis=1)) - _f1(other[drawn].sum(axis=1)))
    low, high = np.percentile(apart, [50 - certainty / 2, 50 + certainty / 2])
    observed = 100 * (_f1(one.sum(axis=0)) - _f1(other.sum(axis=0)))
    return Interval(float(low), float(high), float(observed))


def _sums(scores: Sequence[Score]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([[s.precision_sum, s.found, s.recall_sum, s.wanted] for s in scores], float)


def _f1(sums: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> np.ndarray:
    precision = sums[..., 0] / sums[..., 1]
    recall = sums[..., 2] / sums[..., 3]
    return np.asarray(2 * precision * recall / (precision + recall))
