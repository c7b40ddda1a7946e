"""How many judgments a campaign needs and what they cost, from simulated runs of its corpus."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

import msgspec
from msgspec.structs import replace

from annotation import models
from annotation.models import ImageStatus
from annotation.pipeline.crowd.money import Costs, Estimate, campaign_fees, estimate, hit_cost
from annotation.pipeline.protocol.facts import AcceptedImport, decode_body
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import TYPICAL, Crowd
from annotation.simulation.guess import guess_annotation, guess_size
from annotation.simulation.work import work_in_memory

# Numbers that no real worker has: images in progress have votes of real workers.
WORKERS = list(range(-30, 0))
# Images that are in memory at once.
BATCH = 100


class EstimateError(ValueError):
    """There is nothing to estimate."""


class CampaignEstimate(msgspec.Struct, frozen=True):
    """The work left in a campaign, and how it was estimated."""

    estimate: Estimate
    # Questions, and judgments that they take, by stage.
    questions: dict[Stage, Costs]
    judgments: dict[Stage, Costs]
    # The cost of newcomers' tests; the estimate's totals do not include it.
    tests_cents: int
    newcomers: int
    # Images that are not finished, and how many of them each run took at random.
    images: int
    sample: int
    # One seed per run: it chooses the images and seeds the crowd.
    seeds: tuple[int, ...]
    # The share of images with an answer key; for the others a key was guessed.
    from_key: float

    @property
    def total_cents(self) -> Costs:
        """The total cost, tests included."""
        total = self.estimate.total_cents
        return Costs(
            mean=total.mean + self.tests_cents,
            low=total.low + self.tests_cents,
            high=total.high + self.tests_cents,
        )


class _Run(msgspec.Struct):
    """What one run counted."""

    questions: Counter[Stage]
    judgments: Counter[Stage]
    keyed: int = 0


def estimate_make(
    *,
    campaign: models.Campaign,
    images: int = 100,
    runs: int = 5,
    newcomers: int = 0,
    step: Callable[[], None] = lambda: None,
) -> CampaignEstimate:
    """Estimate what the campaign's unfinished images will take.

    Each run draws a random sample of images and lets its own crowd answer all their remaining
    questions. Its counts are scaled up to all images, so the range covers the chance of the sample
    as well as that of the crowd. For images without an answer key, one is guessed. Writes nothing;
    `step` is called after each image.
    """
    settings = campaign.settings
    unfinished = _unfinished(campaign)
    if not unfinished:
        raise EstimateError("every image is finished: there is nothing left to ask")
    if images < 1 or runs < 1:
        raise EstimateError("an estimate takes at least one image and one run")
    sample = min(images, len(unfinished))
    seeds = tuple(range(1, runs + 1))
    counted = [
        _run(_chosen(unfinished, sample, seed), settings, seed=seed, step=step) for seed in seeds
    ]
    factor = (len(unfinished), sample)
    judgments = [_scaled(run.judgments, *factor) for run in counted]
    questions = [_scaled(run.questions, *factor) for run in counted]
    test = hit_cost(settings.crowd.test_price_cents, campaign_fees(settings))
    return CampaignEstimate(
        estimate=estimate(judgments, settings, newcomers=newcomers),
        questions=_ranges(questions),
        judgments=_ranges(judgments),
        tests_cents=newcomers * len(Stage) * test,
        newcomers=newcomers,
        images=len(unfinished),
        sample=sample,
        seeds=seeds,
        from_key=sum(run.keyed for run in counted) / (sample * runs),
    )


def _unfinished(campaign: models.Campaign) -> list[int]:
    return list(
        models.Image.objects.filter(
            campaign=campaign,
            withdrawn_at=None,
            stored_state__status__in=[ImageStatus.OPEN, ImageStatus.REVIEW],
        )
        .order_by("pk")
        .values_list("pk", flat=True)
    )


def _chosen(images: Sequence[int], sample: int, seed: int) -> list[int]:
    return sorted(Random(f"estimate/{seed}").sample(images, sample))


def _run(images: Sequence[int], settings: Settings, *, seed: int, step: Callable[[], None]) -> _Run:
    crowd = Crowd(WORKERS, TYPICAL, seed)
    run = _Run(questions=Counter(), judgments=Counter())
    for image in _images(images):
        state, key, is_keyed = _beginning(image, seed)
        _, given = work_in_memory(state, key, crowd, image.name, settings)
        run.judgments.update(judgment.question.stage for judgment in given)
        run.questions.update(
            stage for stage, _ in {(j.question.stage, j.question.key) for j in given}
        )
        run.keyed += is_keyed
        step()
    return run


def _images(numbers: Sequence[int]) -> Iterator[models.Image]:
    for start in range(0, len(numbers), BATCH):
        yield from (
            models.Image.objects.filter(pk__in=numbers[start : start + BATCH])
            .select_related("answer_key", "stored_state")
            .order_by("pk")
        )


def _beginning(image: models.Image, seed: int) -> tuple[ImageState, AnswerKey, bool]:
    """Return the image's state, what to answer from, and whether that is an answer key."""
    state = image.stored_state.state
    visual = {mention.number for mention in state.mentions if mention.is_visual}
    if hasattr(image, "answer_key"):
        gold = decode_body(image.answer_key.body)
        assert isinstance(gold, AcceptedImport)  # the only kind that an import stores
        key = AnswerKey(gold)
        # A reviewer may have marked a phrase as visual that is not in the key.
        if visual <= key.chain_of.keys() and min(state.width, state.height) > 0:
            return state, key, True
    width, height = guess_size(state.width, state.height)
    guessed = guess_annotation(
        state.captions, state.mentions, width=width, height=height, seed=f"{seed}/{image.name}"
    )
    return replace(state, width=width, height=height), AnswerKey(guessed), False


def _scaled(counts: Mapping[Stage, int], whole: int, sample: int) -> dict[Stage, int]:
    """Return the counts of a sample for all images, rounded up."""
    return {stage: -(-count * whole // sample) for stage, count in counts.items()}


def _ranges(runs: Sequence[Mapping[Stage, int]]) -> dict[Stage, Costs]:
    numbers = {stage: [run.get(stage, 0) for run in runs] for stage in Stage}
    return {
        stage: Costs(mean=-(-sum(of) // len(of)), low=min(of), high=max(of))
        for stage, of in numbers.items()
    }
