"""Whether two ways of annotating the same images are equally good: a paired bootstrap."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from annotation.pipeline.corpus.corpus_image import captions_of, mentions_of_sentences
from annotation.pipeline.engine import apply, begin
from annotation.pipeline.protocol.facts import Fact
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.release.folder import ReleasedImage
from annotation.pipeline.release.scores import Score
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import Crowd
from annotation.simulation.report import SimulationReport
from annotation.simulation.reviewer import review
from annotation.simulation.work import work_in_memory

SAMPLES = 2000


class Quality(NamedTuple):
    """How one image came out, of chains and of boxes."""

    chains: Score
    boxes: Score


class Interval(NamedTuple):
    """Where a difference lies with 95% certainty, in points of F1, and what it was."""

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


def directly(image: ReleasedImage, key: AnswerKey, crowds: Iterable[Crowd]) -> Quality:
    """Let crowds and a reviewer work on an image without any site; add up how they did.

    Several of them, since a single crowd may be a lucky one.
    """
    start = begin(
        captions_of(image.sentences),
        mentions_of_sentences(image.sentences),
        width=image.width,
        height=image.height,
        settings=Settings(),
    )
    total = Quality(Score(), Score())
    for crowd in crowds:
        state, _ = work_in_memory(start, key, crowd, image.image, Settings())
        for decision in review(state, key, Settings(), crowd_is_done=True):
            state = apply(state, Fact(state.facts + 1, Settings(), decision))
        one = quality_of(state, key)
        total = Quality(total.chains + one.chains, total.boxes + one.boxes)
    return total


def difference(
    ours: Mapping[str, Quality],
    theirs: Mapping[str, Quality],
    what: str,
    seed: int = 0,
) -> Interval:
    """Draw images again and again, the same for both, and see how far apart the two then are."""
    names = sorted(ours)
    one = _sums([getattr(ours[name], what) for name in names])
    other = _sums([getattr(theirs[name], what) for name in names])
    drawn = np.random.default_rng(seed).integers(len(names), size=(SAMPLES, len(names)))
    apart = 100 * (_f1(one[drawn].sum(axis=1)) - _f1(other[drawn].sum(axis=1)))
    low, high = np.percentile(apart, [2.5, 97.5])
    observed = 100 * (_f1(one.sum(axis=0)) - _f1(other.sum(axis=0)))
    return Interval(float(low), float(high), float(observed))


def _sums(scores: Sequence[Score]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([[s.precision_sum, s.found, s.recall_sum, s.wanted] for s in scores], float)


def _f1(sums: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> np.ndarray:
    precision = sums[..., 0] / sums[..., 1]
    recall = sums[..., 2] / sums[..., 3]
    return np.asarray(2 * precision * recall / (precision + recall))
