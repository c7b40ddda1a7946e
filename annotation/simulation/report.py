"""The report on a simulation: judgments per stage, quality against gold, chains in review."""

from collections import Counter
from collections.abc import Iterable

from annotation.pipeline.protocol.merge import merge
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState, Phase
from annotation.pipeline.release.scores import Score, b_cubed, box_score
from annotation.simulation.answer_key import AnswerKey

BOX_THRESHOLDS = (0.5, 0.8, 0.95)


class SimulationReport:
    """Adds up images one by one, so that it can handle any campaign."""

    def __init__(self) -> None:
        self.images = 0
        self.finished = 0
        self.judgments: Counter[Stage] = Counter()
        self.chains = 0
        self.review: Counter[str] = Counter()
        self.all_pairs = 0
        self.chain_score = Score()
        self.box_scores = {threshold: Score() for threshold in BOX_THRESHOLDS}

    def add(
        self,
        state: ImageState,
        key: AnswerKey,
        stages: Iterable[Stage],
        settings: Settings,
    ) -> None:
        """Count an image and the stages of the judgments that it got."""
        self.images += 1
        self.finished += state.is_finished
        self.judgments.update(stages)
        self.chains += len(state.chains)
        self.review += reasons(state)
        visual = sum(mention.is_visual for mention in state.mentions)
        self.all_pairs += visual * (visual - 1) // 2
        merged = merge(state, settings)
        found = {m: chain.number for chain in merged.chains for m in chain.mentions}
        gold = {m: chain for m, chain in key.chain_of.items() if m in found}
        self.chain_score += b_cubed(found, gold)
        rects = [box.rect for box in merged.boxes]
        for threshold in BOX_THRESHOLDS:
            self.box_scores[threshold] += box_score(rects, key.all_rects, threshold)

    @property
    def review_share(self) -> float:
        return self.review.total() / self.chains if self.chains else 0.0

    def per_image(self, stage: Stage) -> float:
        return self.judgments[stage] / self.images if self.images else 0.0

    def render(self) -> str:
        """Return the report as text, one fact per line."""
        if not self.images:
            return "There is no image with an answer key: import a corpus with --gold.\n"
        lines = [f"{self.images:,} images, {self.finished:,} finished", ""]
        lines += [f"{'stage':<14}{'judgments':>10}{'per image':>11}"]
        for stage in Stage:
            lines.append(
                f"{stage.value:<14}{self.judgments[stage]:>10,}{self.per_image(stage):>11.2f}"
            )
        total = self.judgments.total()
        lines.append(f"{'all':<14}{total:>10,}{total / self.images:>11.2f}")
        lines += [
            f"(all pairs of mentions would be {self.all_pairs / self.images:.1f} links an image)",
            "",
            f"{'against gold, after merging':<30}{'precision':>10}{'recall':>8}{'F1':>8}",
            _score_line("chains, B³", self.chain_score),
        ]
        for threshold, score in self.box_scores.items():
            lines.append(_score_line(f"boxes, IoU ≥ {threshold}", score))
        lines += [
            "",
            f"{self.review.total():,} of {self.chains:,} chains in review "
            f"({self.review_share:.2%}; the paper: 1.6%)",
        ]
        lines += reason_lines(self.review)
        return "\n".join(lines) + "\n"


def reasons(state: ImageState) -> Counter[str]:
    """Count the image's chains in review by their reasons."""
    return Counter(c.review for c in state.chains if c.phase is Phase.REVIEW)


def reason_lines(counted: Counter[str]) -> list[str]:
    return [f"  {count:>5,}  {reason}" for reason, count in counted.most_common()]


def _score_line(name: str, score: Score) -> str:
    return f"{name:<30}{score.precision:>10.4f}{score.recall:>8.4f}{score.f1:>8.4f}"
