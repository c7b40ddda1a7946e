"""Folding images from their facts, and comparing the result with the state tables."""

from collections.abc import Iterator

from django.db.models import QuerySet

from annotation import models
from annotation.models import ImageStatus
from annotation.models.rows import box_row, chain_row, question_rows, status_of
from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import begin, fold, open_questions
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import Fact, FactRefusedError, decode_body
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState, encode_state

BATCH = 200
CHAIN_COLUMNS = ("number", "phase", "mentions", "types", "review", "public_id")
BOX_COLUMNS = ("number", "chains", "x_min", "y_min", "x_max", "y_max", "status")


def images_with_facts(images: QuerySet[models.Image]) -> Iterator[models.Image]:
    """Yield images with all that folding and comparing them needs, a constant few statements a
    batch."""
    images = images.select_related("stored_state").prefetch_related(
        "captions", "mentions", "facts", "chains", "boxes", "open_questions"
    )
    yield from images.order_by("pk").iterator(chunk_size=BATCH)


def settings_by_id() -> dict[int, Settings]:
    """Return every settings version by its row: they never change, and there are few."""
    return {row.pk: row.settings for row in models.CampaignSettings.objects.all()}


def image_begin(image: models.Image, settings: dict[int, Settings]) -> ImageState:
    """Return the state of the image before its first fact."""
    captions = [
        Caption(number=row.number, tokens=tuple(row.text.split(" ")))
        for row in sorted(image.captions.all(), key=lambda c: c.number)
    ]
    mentions = [
        Mention(
            number=row.number,
            caption=row.caption,
            start=row.start,
            end=row.end,
            types=tuple(row.types.split("/")),
        )
        for row in sorted(image.mentions.all(), key=lambda m: m.number)
    ]
    return begin(
        captions,
        mentions,
        width=image.width,
        height=image.height,
        settings=settings[image.begun_under_id],
    )


def image_fold(image: models.Image, settings: dict[int, Settings]) -> ImageState:
    """Return what the image's source rows and facts fold to."""
    return fold(
        image_begin(image, settings),
        (
            Fact(number=row.number, settings=settings[row.settings_id], body=decode_body(row.body))
            for row in sorted(image.facts.all(), key=lambda f: f.number)
        ),
    )


def image_differences(image: models.Image, settings: dict[int, Settings]) -> list[str]:
    """Return where the state tables differ from what the image's facts fold to."""
    if image.withdrawn_at is not None:
        return _tombstone_differences(image)
    try:
        state = image_fold(image, settings)
    except FactRefusedError as error:
        return [f"its facts do not fold: {error}"]
    stored = image.stored_state
    found = []
    if stored.facts != state.facts:
        found.append(f"the stored state includes {stored.facts} of {state.facts} facts")
    if stored.body != encode_state(state):
        found.append("the stored state is not what the facts fold to")
    if stored.status != status_of(state):
        found.append(f"its status is {stored.status}, not {status_of(state).value}")
    chains = [chain_row(state, chain, image.pk) for chain in state.chains]
    if _values(image.chains.all(), CHAIN_COLUMNS) != _values(chains, CHAIN_COLUMNS):
        found.append("its chain rows differ")
    boxes = [box_row(box, image.pk) for box in state.boxes]
    if _values(image.boxes.all(), BOX_COLUMNS) != _values(boxes, BOX_COLUMNS):
        found.append("its box rows differ")
    questions = question_rows(open_questions(state), image, state)
    columns = ("key", "stage", "campaign_id", "left", "kept_out")
    if _values(image.open_questions.all(), columns) != _values(questions, columns):
        found.append("its open questions differ")
    return found


def _tombstone_differences(image: models.Image) -> list[str]:
    found = []
    if image.stored_state.status != ImageStatus.WITHDRAWN or image.stored_state.body:
        found.append("it was withdrawn, but its state still exists")
    if image.captions.all() or image.mentions.all():
        found.append("it was withdrawn, but its captions still exist")
    if image.chains.all() or image.boxes.all() or image.open_questions.all():
        found.append("it was withdrawn, but its chains, boxes or questions still exist")
    return found


def _values(rows: object, columns: tuple[str, ...]) -> list[list[str]]:
    assert isinstance(rows, list | QuerySet)
    return sorted([str(getattr(row, column)) for column in columns] for row in rows)
