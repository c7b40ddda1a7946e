"""A Flickr30k Entities directory, with or without its chains and boxes."""

from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import (
    CorpusImage,
    Problem,
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.corpus.importers.checks import (
    LONGEST_NAME,
    MOST_CAPTIONS,
    BadItemError,
    CorpusError,
    check_control,
    check_tokens,
    too_many_captions,
)
from annotation.pipeline.release.folder import (
    ReleasedImage,
    ReleaseError,
    Sentence,
    image_ids,
    read_image,
    read_sentences,
    read_splits,
    read_unrelated,
)


def read(directory: Path, *, with_annotation: bool) -> Iterator[CorpusImage | Problem]:
    """Yield the images of the split files, or all images if there are no split files."""
    try:
        images = image_ids(directory)
        split_of = {
            image: split for split, listed in read_splits(directory).items() for image in listed
        }
        unrelated = read_unrelated(directory)
    except (ReleaseError, OSError) as error:
        raise CorpusError(str(error)) from error
    for image in images:
        try:
            yield _image(
                directory,
                image,
                split_of.get(image, ""),
                unrelated.get(image, ()),
                with_annotation=with_annotation,
            )
        except ReleaseError as error:
            place = "" if error.line is None else f"line {error.line}"
            yield Problem(error.file or str(directory), place, error.why)


def _image(
    directory: Path,
    image: str,
    split: str,
    unrelated: tuple[int, ...],
    *,
    with_annotation: bool,
) -> CorpusImage:
    released = _read(directory, image, with_annotation=with_annotation)
    sentences = released.sentences
    _check(directory, image, sentences, unrelated)
    return CorpusImage(
        name=image,
        filename=released.filename,
        captions=captions_of(sentences),
        mentions=mentions_of_sentences(sentences),
        annotation=annotation_of(released, unrelated) if with_annotation else None,
        split=split,
        width=released.width,
        height=released.height,
        depth=released.depth,
    )


def _read(directory: Path, image: str, *, with_annotation: bool) -> ReleasedImage:
    """Read the image; without annotation a missing or bad Annotations file does not matter."""
    try:
        return read_image(directory, image)
    except ReleaseError:
        if with_annotation:
            raise
    sentences = read_sentences(directory, image)
    return ReleasedImage(image, f"{image}.jpg", 0, 0, 3, sentences, (), ())


def _check(
    directory: Path, image: str, sentences: tuple[Sentence, ...], unrelated: tuple[int, ...]
) -> None:
    """Apply the checks that every corpus must pass."""
    file = str(directory / "Sentences" / f"{image}.txt")
    if len(image) > LONGEST_NAME:
        raise ReleaseError(f"the image id has more than {LONGEST_NAME} characters", file=file)
    if len(sentences) > MOST_CAPTIONS:
        raise ReleaseError(too_many_captions(image, len(sentences)), file=file)
    for number, sentence in enumerate(sentences, start=1):
        try:
            check_tokens(sentence.tokens)
            check_control(" ".join(sentence.tokens))
        except BadItemError as error:
            raise ReleaseError(str(error), file=file, line=number) from None
    for number in unrelated:
        if number > len(sentences):
            raise ReleaseError(
                f"UNRELATED_CAPTIONS names caption {number}, but the image has {len(sentences)}",
                file=file,
            )
