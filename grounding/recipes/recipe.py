"""What a recipe is: its settings, its steps, its run, and the tables and notes it reports.

The command line, the pages and the workers know recipes only through `Recipe`. They import every
recipe at start, so a recipe's module must import torch, scipy and the like inside its functions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from grounding.pipeline.arrays import Float32
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.progress import Report
from grounding.pipeline.store.features import FeatureKey, FeatureStore
from grounding.pipeline.store.plans import Regions
from grounding.pipeline.text.features import TextEncoder
from grounding.pipeline.text.word_vectors import Tokens, WordVectors
from grounding.pipeline.vision.photos import Photo

if TYPE_CHECKING:
    from grounding.pipeline.embedding.covariances import Covariances
    from grounding.pipeline.embedding.training_pass import Pairs

# What metrics.json contains: numbers, by names that the recipe chooses.
Metrics = dict[str, Any]
# Given the parts of a pass and their encoder, yields the covariances of each part in order, or
# None for a part that no other worker made.
SharedPass = Callable[[Sequence["Pairs[FeatureKey]"], TextEncoder], Iterator["Covariances | None"]]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What researchers may choose. A recipe with more settings extends this class.

    Each field's `Meta` holds its limits and its description; `options.py` lists the types that a
    field may have.
    """

    seed: Annotated[int, Meta(ge=0, description="seed of the random numbers")] = 0


S = TypeVar("S", bound=Settings)


class Row(NamedTuple):
    """A row of a table: one name for each row heading, one cell for each column."""

    names: tuple[str, ...]
    cells: tuple[str, ...]


class Table(NamedTuple):
    """A table of results, for a page or a terminal. `note` explains the figures."""

    title: str
    row_headings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""


class Corpus(NamedTuple):
    """A release and its photos, before any features are extracted. `photos` are by image id."""

    release: Path
    images: Path
    store: Path
    photos: Mapping[str, Photo]
    threads: int


class Materials(NamedTuple):
    """What a recipe runs on.

    `splits` holds ids of the images that have features; `captions` and `photos` are by image id.
    `store` has features of whole images and of the recipe's regions. The pass over the training
    pairs is cut into parts of `part_items` images or regions, so that other workers can help by
    way of `shared`.
    """

    corpus: Corpus
    splits: Mapping[str, tuple[str, ...]]
    captions: Mapping[str, Sequence[Tokens]]
    vectors: WordVectors
    store: FeatureStore
    device: str | None
    part_items: int
    report: Report
    shared: SharedPass

    def whole_image(self, image: str) -> FeatureKey:
        return FeatureKey(self.corpus.photos[image].sha256, None)

    def image_features(self, images: Sequence[str]) -> Float32:
        """Return the features of whole images, (n, d), in their order."""
        return self.store.read([self.whole_image(image) for image in images])


class Outcome(NamedTuple):
    """What a run found.

    `metrics` is written to metrics.json and kept for the page. `tables` and `notes` are printed in
    the terminal; the page shows the notes too. `about` is added to settings.json, and `files` are
    further JSON files by name. `result` is for callers in Python.
    """

    metrics: Metrics
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    about: Mapping[str, Any] = {}
    files: Mapping[str, Any] = {}
    result: Any = None


def _whole_images_only(corpus: Corpus, settings: Any) -> Regions:
    return lambda image: ()


@dataclass(frozen=True)
class Recipe(Generic[S]):
    """One experiment. `name` is what one types; title and summary are shown to researchers.

    `stages` are the steps that `run` reports, in order. `regions` returns the regions of each
    image whose features `run` needs beside those of the whole image. `tables` and `headline` make
    the page's tables, and its one line in the list of experiments, from stored metrics.
    """

    name: str
    title: str
    summary: str
    settings: type[S]
    stages: tuple[str, ...]
    run: Callable[[Materials, S], Outcome]
    tables: Callable[[Metrics], Sequence[Table]]
    headline: Callable[[Metrics], str]
    regions: Callable[[Corpus, S], Regions] = field(default=_whole_images_only)

    def read_settings(self, given: Mapping[str, Any]) -> S:
        """Return the settings that `given`, from JSON, holds; what is not given has its default."""
        try:
            return msgspec.convert(dict(given), self.settings)
        except msgspec.ValidationError as error:
            raise GroundingError(f"invalid settings for {self.name}: {error}") from None
