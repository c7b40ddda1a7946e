import tracemalloc
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path

import pytest

from annotation.pipeline.corpus.importers import CorpusImage, Problem, guess_format, read_corpus

pytestmark = pytest.mark.slow

IMAGES = 30_783
CAPTIONS = 153_915
MEGABYTE = 2**20


def images_of(path: Path, format: str, *, with_annotation: bool = False) -> Iterator[CorpusImage]:
    for item in read_corpus(path, format, with_annotation=with_annotation):
        assert not isinstance(item, Problem), str(item)
        yield item


def test_public_dataset_with_its_annotation(public_dataset: Path) -> None:
    assert guess_format(public_dataset) == "entities"
    images = captions = boxes = 0
    splits = {"train": 0, "val": 0}
    for image in images_of(public_dataset, "entities", with_annotation=True):
        assert image.annotation is not None
        assert image.mentions is not None
        assert image.width > 0
        assert image.filename == f"{image.name}.jpg"
        visual = {mention.number for mention in image.mentions if mention.is_visual}
        chained = [number for chain in image.annotation.chains for number in chain.mentions]
        assert sorted(chained) == sorted(visual)
        images += 1
        captions += len(image.captions)
        boxes += len(image.annotation.boxes)
        splits[image.split] += 1
    assert (images, captions) == (IMAGES, CAPTIONS)
    assert splits == {"train": IMAGES - 1000, "val": 1000}
    assert boxes > 250_000


def test_token_file_of_the_public_captions(public_dataset: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.token"
    captions = []
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for image in images_of(public_dataset, "entities"):
            captions.append((image.name, image.filename, image.captions))
            for number, caption in enumerate(image.captions):
                file.write(f"{image.filename}#{number}\t{caption.text}\n")
    assert guess_format(path) == "flickr30k"
    for expected, image in zip_longest(captions, images_of(path, "flickr30k")):
        assert (image.name, image.filename, image.captions) == expected


@pytest.mark.parametrize("with_annotation", [False, True])
def test_memory_stays_flat(public_dataset: Path, with_annotation: bool) -> None:
    images = images_of(public_dataset, "entities", with_annotation=with_annotation)
    tracemalloc.start()
    try:
        for _ in islice(images, 200):
            pass
        before = tracemalloc.get_traced_memory()[0]
        for _ in islice(images, 800):  # kept, they would need some 10 MB
            pass
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < MEGABYTE
    assert peak < 200 * MEGABYTE
