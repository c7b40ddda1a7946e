"""Retrieval both ways by CCA on images and captions.

The space is fitted on train; the ridges and the power that do best on val are chosen; val and test
are then ranked both ways. Inputs are plain: captions by image, and a function that returns the
features of images.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import msgspec

from grounding.pipeline.arrays import Float32
from grounding.pipeline.embedding.cca import (
    CanonicalSpace,
    fit_factored,
    half_whitened,
    ridge_factor,
    useful_components,
)
from grounding.pipeline.embedding.covariances import Covariances, best_device
from grounding.pipeline.embedding.training_pass import Pairs, gather_parts
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.evaluation.distances import ImageSentenceDistances
from grounding.pipeline.evaluation.ranks import (
    Interval,
    Ranks,
    Retrieval,
    bootstrap,
    by_chance,
    rank_both_ways,
    retrieval,
)
from grounding.pipeline.progress import Report, silent
from grounding.pipeline.text.features import (
    TextEncoder,
    WordCoverage,
    fisher_encoder,
    mean_encoder,
    vocabulary_of,
    word_coverage,
)
from grounding.pipeline.text.word_vectors import Tokens, WordVectors
from grounding.recipes.cca_settings import CcaSettings

TRYING = "trying ridges and powers"
# The pass is cut into parts of this many images, so that other workers can help.
PART_IMAGES = 4000

# Returns the features of images, (n, dx), in their order.
ImageFeatures = Callable[[Sequence[str]], Float32]


class Split(msgspec.Struct, frozen=True):
    """Images in their order, and the captions of each, as tokens."""

    images: tuple[str, ...]
    captions: Mapping[str, Sequence[Tokens]]

    def texts(self, images: Sequence[str]) -> list[Tokens]:
        return [caption for image in images for caption in self.captions[image]]

    def pairs(self) -> Pairs[str]:
        return Pairs(self.images, [self.captions[image] for image in self.images])


# Given the parts of the pass and their encoder, yields the covariances of each part in order, or
# None for a part that nobody else has gathered.
SharedPass = Callable[[Sequence[Split], TextEncoder], Iterator[Covariances | None]]


class Choice(msgspec.Struct, frozen=True):
    """Ridges and power, and their mean of the six recalls on val, in percent."""

    ridge_x: float
    ridge_y: float
    power: float
    mean_recall: float


class Scores(msgspec.Struct, frozen=True):
    """Figures both ways; intervals are by the name of their figure."""

    image_to_sentence: Retrieval
    sentence_to_image: Retrieval
    image_to_sentence_intervals: dict[str, Interval]
    sentence_to_image_intervals: dict[str, Interval]
    image_to_sentence_chance: Retrieval
    sentence_to_image_chance: Retrieval


class Result(NamedTuple):
    """What a run found; `space` and `encoder` can embed further images and sentences."""

    val: Scores
    test: Scores | None
    chosen: Choice
    tried: list[Choice]
    coverage: WordCoverage
    space: CanonicalSpace
    encoder: TextEncoder


def run(
    train: Split,
    val: Split,
    test: Split | None,
    features: ImageFeatures,
    vectors: WordVectors,
    settings: CcaSettings,
    *,
    report: Report = silent,
    device: str | None = None,
    part_images: int = PART_IMAGES,
    shared: SharedPass = lambda parts, encoder: repeat(None),
) -> Result:
    """Fit on `train`, choose on `val`, and rank `val` and `test`.

    Other workers may help with the pass over `train` by way of `shared`.
    """
    for name, split in (("train", train), ("val", val)):
        if not split.images:
            raise GroundingError(f"no image of the split {name} can be used")
    texts = train.texts(train.images)
    encoder = text_encoder(texts, vectors, settings, report=report)
    parts = parts_of(train, part_images)
    covariances = gather_parts(
        [part.pairs() for part in parts],
        shared(parts, encoder),
        features,
        encoder,
        report=report,
        device=device,
    )
    val_images, val_texts = split_features(val, features, encoder)
    space, chosen, tried = choose(
        covariances, val_images, val_texts, owners_of(val), settings, report=report, device=device
    )

    def ranked(split: Split) -> Scores:
        both = split_features(split, features, encoder)
        return score(space, chosen.power, split, *both, settings.seed)

    return Result(
        val=score(space, chosen.power, val, val_images, val_texts, settings.seed),
        test=ranked(test) if test and test.images else None,
        chosen=chosen,
        tried=tried,
        coverage=word_coverage(texts, vectors),
        space=space,
        encoder=encoder,
    )


def text_encoder(
    texts: Sequence[Tokens], vectors: WordVectors, settings: CcaSettings, *, report: Report = silent
) -> TextEncoder:
    """Return an encoder of captions, fitted on the words of the training captions."""
    if settings.pooling == "mean":
        return mean_encoder(vectors)
    if settings.pooling == "fisher":
        return fisher_encoder(
            vectors,
            vocabulary_of(texts),
            centres=settings.centres,
            seed=settings.seed,
            report=report,
        )
    raise GroundingError(f"unknown pooling “{settings.pooling}”; choose fisher or mean")


def parts_of(split: Split, images: int = PART_IMAGES) -> list[Split]:
    """Cut a split into parts that can be gathered separately: their covariances add up."""
    starts = range(0, len(split.images), images)
    return [Split(split.images[start : start + images], split.captions) for start in starts]


def split_features(
    split: Split, features: ImageFeatures, encoder: TextEncoder
) -> tuple[Float32, Float32]:
    """Return the features of a split's images, (n, dx), and captions, (m, dy)."""
    return features(split.images), encoder.encode(split.texts(split.images))


def owners_of(split: Split) -> list[int]:
    """Return for each caption the number of its image."""
    return [number for number, image in enumerate(split.images) for _ in split.captions[image]]


def choose(
    covariances: Covariances,
    images: Float32,
    texts: Float32,
    owners: Sequence[int],
    settings: CcaSettings,
    *,
    report: Report = silent,
    device: str | None = None,
) -> tuple[CanonicalSpace, Choice, list[Choice]]:
    """Fit a space for each pair of ridges, and return the one with the best mean recall on val.

    Of equals the first wins, which has the smaller ridges.
    """
    place = device or best_device()
    count, scatter_x = covariances.count, covariances.scatter_xx
    factors_x = [
        ridge_factor(scatter_x, count, ridge, "the images", place) for ridge in settings.ridges
    ]
    components = useful_components(covariances, settings.components)
    tried: list[Choice] = []
    best: tuple[CanonicalSpace, Choice] | None = None
    # The text's side is the larger: only one of its factors is in memory at a time.
    for ridge_y in settings.ridges:
        factor_y = ridge_factor(covariances.scatter_yy, count, ridge_y, "the captions", place)
        half = half_whitened(covariances, factor_y)
        for ridge_x, factor_x in zip(settings.ridges, factors_x, strict=True):
            space = fit_factored(covariances, half, factor_x, factor_y, components)
            both = space.coordinates_x(images), space.coordinates_y(texts)
            for power in settings.powers:
                distances = ImageSentenceDistances(*(space.scaled(side, power) for side in both))
                ranks = rank_both_ways(distances, owners)
                tried.append(Choice(ridge_x, ridge_y, power, mean_recall(ranks)))
                if best is None or tried[-1].mean_recall > best[1].mean_recall:
                    best = space, tried[-1]
            report(
                TRYING,
                len(tried),
                len(settings.ridges) ** 2 * len(settings.powers),
            )
    if best is None:
        raise GroundingError("give at least one ridge and one power")
    return *best, tried


def mean_recall(ranks: Ranks) -> float:
    """Return the mean of R@1, R@5 and R@10 both ways, in percent."""
    ways = (retrieval(ranks.image_to_sentence), retrieval(ranks.sentence_to_image))
    return sum(way.r1 + way.r5 + way.r10 for way in ways) / 6


def score(
    space: CanonicalSpace, power: float, split: Split, images: Float32, texts: Float32, seed: int
) -> Scores:
    """Rank a split both ways, with intervals and with the figures of a random order."""
    owners = owners_of(split)
    distances = ImageSentenceDistances(
        space.project_x(images, power), space.project_y(texts, power)
    )
    ranks = rank_both_ways(distances, owners)
    numbers = list(range(len(split.images)))
    each = round(len(owners) / len(split.images))
    return Scores(
        image_to_sentence=retrieval(ranks.image_to_sentence),
        sentence_to_image=retrieval(ranks.sentence_to_image),
        image_to_sentence_intervals=bootstrap(ranks.image_to_sentence, numbers, seed=seed),
        sentence_to_image_intervals=bootstrap(ranks.sentence_to_image, owners, seed=seed),
        image_to_sentence_chance=by_chance(len(owners), each),
        sentence_to_image_chance=by_chance(len(split.images), 1),
    )
