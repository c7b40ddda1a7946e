"""Which gold questions are still wanted, while they are made image after image."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import inf
from random import Random

from django.utils.crypto import salted_hmac

from annotation import models
from annotation.pipeline.gold.gold_question import Gold
from annotation.pipeline.gold.known_images import KnownImage
from annotation.pipeline.gold.maker import make_gold
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.selectors.gold.gold_questions import gold_available

Counts = dict[Stage, dict[str, int]]


class Making:
    """Which gold questions are wanted, and which have been made."""

    def __init__(
        self,
        campaign: models.Campaign,
        stages: tuple[Stage, ...],
        most: int | None,
        per_image: int,
        lot: str = "",
    ) -> None:
        self.stages = stages
        self.settings: Settings = campaign.settings
        self.per_image = per_image
        # The rules are public: somebody who knew the seed could predict the questions.
        self.seed = salted_hmac("annotation.gold", str(campaign.pk)).hexdigest()
        self.random = Random(f"{self.seed}/{lot}")
        self.added: Counts = {stage: {} for stage in stages}
        have = gold_available(campaign)
        self._left = {
            (stage, answer): (inf if most is None else most) - have.get(stage, {}).get(answer, 0)
            for stage in stages
            for answer in spec_of(stage).answers
        }

    @property
    def is_done(self) -> bool:
        return all(left <= 0 for left in self._left.values())

    def of_image(self, known: list[KnownImage], there: "There") -> Iterator[Gold]:
        for stage in self.stages:
            if all(self._left[stage, answer] <= 0 for answer in spec_of(stage).answers):
                continue
            per_answer = self.per_image + there.retired[stage]
            for image in known:
                for gold in make_gold(image, stage, self.settings, self.seed, per_answer):
                    if self._takes(gold, there):
                        yield gold

    def _takes(self, gold: Gold, there: "There") -> bool:
        about = (gold.stage, gold.answer)
        is_full = there.in_use[about] >= self.per_image or self._left[about] <= 0
        if is_full or gold.key in there.keys:
            return False
        there.keys.add(gold.key)
        there.in_use[about] += 1
        self._left[about] -= 1
        counts = self.added[gold.stage]
        counts[gold.answer] = counts.get(gold.answer, 0) + 1
        return True


class There:
    """The gold questions that an image has."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.in_use: dict[tuple[Stage, str], int] = defaultdict(int)
        self.retired: dict[Stage, int] = defaultdict(int)


def gold_of_images(images: Sequence[int]) -> dict[int, There]:
    there: dict[int, There] = defaultdict(There)
    rows = models.GoldQuestion.objects.filter(image__in=images)
    for image, key, stage, answer, retired in rows.values_list(
        "image", "key", "stage", "answer", "retired_at"
    ):
        there[image].keys.add(key)
        if retired is None:
            there[image].in_use[Stage(stage), answer] += 1
        else:
            there[image].retired[Stage(stage)] += 1
    return there
