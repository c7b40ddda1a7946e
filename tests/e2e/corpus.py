"""Some images of the public dataset as a corpus of their own, with tests made of its gold."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import msgspec

from annotation.pipeline.corpus.corpus_image import (
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.engine import begin
from annotation.pipeline.gold.gold_question import Gold
from annotation.pipeline.gold.known_images import KnownImage, known_annotation
from annotation.pipeline.gold.maker import make_gold
from annotation.pipeline.mentions.mention import longest
from annotation.pipeline.protocol.questions import BOX, NONE_NEEDED, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, spec_of
from annotation.pipeline.release.folder import image_ids, read_image
from annotation.pipeline.work.guides import Lesson, LessonCaption
from tests.processes import ROOT

DEMO = ROOT / "annotation" / "demo"
# Questions of a test: as many as the demo's have.
LESSONS = 8
WHY = "So says the public annotation."


def corpus_write(dataset: Path, photos: Path, to: Path, count: int, seed: str) -> list[str]:
    """Write `count` images that have a photo into a folder, by lot; return their names."""
    here = {path.stem for path in photos.glob("*.jpg")}
    names = sorted(Random(seed).sample(sorted(here & set(image_ids(dataset))), count))
    for folder, ending in (("Sentences", "txt"), ("Annotations", "xml")):
        (to / folder).mkdir(parents=True)
        for name in names:
            shutil.copy(dataset / folder / f"{name}.{ending}", to / folder)
    (to / "photos").mkdir()
    for name in names:
        shutil.copy(photos / f"{name}.jpg", to / "photos")
    (to / "train.txt").write_text("".join(f"{name}\n" for name in names))
    return names


def guides_write(corpus: Path, names: Sequence[str], to: Path) -> None:
    """Write guides with a test for each stage, made of the corpus's own gold."""
    to.mkdir()
    shutil.copy(DEMO / "guides" / "consent.toml", to)
    known = [_known(corpus, name) for name in names]
    for stage in GOLD_STAGES:
        golds = [gold for image in known for gold in make_gold(image, stage, Settings(), "tests")]
        captions = {image.name: image for image in known}
        lessons = [_lesson(gold, captions[gold.image]) for gold in _balanced(golds, stage)]
        _write(to, stage, lessons)
    _write(to, Stage.DRAWING, list(_drawings(known))[:LESSONS])


def _known(corpus: Path, name: str) -> KnownImage:
    image = read_image(corpus, name)
    state = begin(
        captions_of(image.sentences),
        mentions_of_sentences(image.sentences),
        width=image.width,
        height=image.height,
        settings=Settings(),
    )
    return known_annotation(name, state, annotation_of(image))


def _balanced(golds: Sequence[Gold], stage: Stage) -> Iterator[Gold]:
    """Yield the test's questions: each answer about as often as the others, an image once."""
    most = -(-LESSONS // len(spec_of(stage).answers))
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for gold in golds:
        if counts[gold.answer] < most and gold.image not in seen and counts.total() < LESSONS:
            counts[gold.answer] += 1
            seen.add(gold.image)
            yield gold


def _lesson(gold: Gold, image: KnownImage) -> Lesson:
    words = {caption.number: caption.tokens for caption in image.captions}
    phrases: dict[int, list[str]] = {}
    for mark in gold.shown.marks:
        tokens = words[mark.caption][mark.start : mark.end]
        phrases.setdefault(mark.caption, []).append(" ".join(tokens))
    return Lesson(
        image=gold.image,
        captions=tuple(LessonCaption(number, tuple(said)) for number, said in phrases.items()),
        answer=gold.answer,
        why=WHY,
        boxes=gold.shown.boxes,
        candidate=gold.shown.candidate,
    )


def _drawings(known: Sequence[KnownImage]) -> Iterator[Lesson]:
    """Yield drawing lessons, in turn with a box to draw and with all boxes drawn."""
    draws = True
    for image in known:
        chain = next((one for one in image.chains if len(one.rects) == 1), None)
        if chain is None:
            continue
        mention = longest(chain.mentions, image.captions)
        tokens = next(c.tokens for c in image.captions if c.number == mention.caption)
        phrase = " ".join(tokens[mention.start : mention.end])
        yield Lesson(
            image=image.name,
            captions=(LessonCaption(mention.caption, (phrase,)),),
            answer=BOX if draws else NONE_NEEDED,
            why=WHY,
            boxes=() if draws else chain.rects,
            expected=chain.rects if draws else (),
        )
        draws = not draws


def _write(to: Path, stage: Stage, lessons: Sequence[Lesson]) -> None:
    lines: list[str] = []
    for lesson in lessons:
        lines.append("[[test]]")
        # What a lesson has not is left out.
        values = msgspec.to_builtins(lesson).items()
        lines += [f"{name} = {_toml(value)}" for name, value in values if value]
    (to / f"{stage.value}.toml").write_text("\n".join(lines) + "\n")


def _toml(value: object) -> str:
    """Write a value as TOML does: as JSON, but for its tables."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)
