"""How close annotation comes to an answer key: B³ for chains, F1 for boxes."""

from collections.abc import Hashable, Iterable, Mapping

import msgspec

from annotation.pipeline.geometry import Rect, iou


class Score(msgspec.Struct, frozen=True):
    """Sums from which precision, recall and F1 follow, so that images add up."""

    precision_sum: float = 0.0
    found: int = 0
    recall_sum: float = 0.0
    wanted: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(
            precision_sum=self.precision_sum + other.precision_sum,
            found=self.found + other.found,
            recall_sum=self.recall_sum + other.recall_sum,
            wanted=self.wanted + other.wanted,
        )

    @property
    def precision(self) -> float:
        return self.precision_sum / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.recall_sum / self.wanted if self.wanted else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def b_cubed(found: Mapping[int, Hashable], gold: Mapping[int, Hashable]) -> Score:
    """Score one partition of mentions against another (Bagga and Baldwin, 1998).

    Both map the same mentions to their chains. For each mention: the share of its found chain
    that is right (precision), and the share of its gold chain that was found (recall).
    """
    members_found = _members(found)
    members_gold = _members(gold)
    precision = recall = 0.0
    for mention, chain in found.items():
        together = members_found[chain]
        belong = members_gold[gold[mention]]
        both = len(together & belong)
        precision += both / len(together)
        recall += both / len(belong)
    return Score(precision_sum=precision, found=len(found), recall_sum=recall, wanted=len(gold))


def box_score(found: Iterable[Rect], gold: Iterable[Rect], threshold: float) -> Score:
    """Match boxes one to one, best overlap first, and count those with IoU ≥ threshold."""
    found, gold = list(found), list(gold)
    pairs = sorted(
        (
            (-iou(a, b), i, j)
            for i, a in enumerate(found)
            for j, b in enumerate(gold)
            if iou(a, b) >= threshold
        ),
    )
    matched_found: set[int] = set()
    matched_gold: set[int] = set()
    for _, i, j in pairs:
        if i not in matched_found and j not in matched_gold:
            matched_found.add(i)
            matched_gold.add(j)
    hits = len(matched_found)
    return Score(precision_sum=hits, found=len(found), recall_sum=hits, wanted=len(gold))


def _members(partition: Mapping[int, Hashable]) -> dict[Hashable, set[int]]:
    members: dict[Hashable, set[int]] = {}
    for mention, chain in partition.items():
        members.setdefault(chain, set()).add(mention)
    return members
