"""The rows of the state tables that an image's state becomes."""

from collections.abc import Iterable

from annotation import models
from annotation.models import ImageStatus
from annotation.pipeline.mentions.mention import ENTITY_TYPES
from annotation.pipeline.protocol.independence import kept_out
from annotation.pipeline.protocol.progress import work_left
from annotation.pipeline.protocol.questions import Question
from annotation.pipeline.protocol.state import Box, Chain, ImageState, chain_types, encode_state


def status_of(state: ImageState) -> ImageStatus:
    if state.is_finished:
        return ImageStatus.FINISHED
    return ImageStatus.REVIEW if state.in_review else ImageStatus.OPEN


def chain_row(state: ImageState, chain: Chain, image_id: int) -> models.Chain:
    types = chain_types(state, chain)
    return models.Chain(
        image_id=image_id,
        number=chain.number,
        phase=chain.phase.value,
        mentions=list(chain.mentions),
        types="/".join(t for t in ENTITY_TYPES if t in types),
        review=chain.review,
        public_id=chain.public_id,
    )


def box_row(box: Box, image_id: int) -> models.Box:
    return models.Box(
        image_id=image_id,
        number=box.number,
        chains=list(box.chains),
        x_min=box.rect.xmin,
        y_min=box.rect.ymin,
        x_max=box.rect.xmax,
        y_max=box.rect.ymax,
        status=box.status.value,
    )


def question_rows(
    questions: Iterable[Question], image: models.Image, state: ImageState
) -> list[models.OpenQuestion]:
    left = work_left(state)
    return [
        models.OpenQuestion(
            campaign_id=image.campaign_id,
            image_id=image.pk,
            stage=question.stage.value,
            key=question.key,
            left=left,
            kept_out=workers_text(kept_out(state, question)),
        )
        for question in questions
    ]


def workers_text(workers: Iterable[int]) -> str:
    """Write workers as text in which the database can search for one of them.

    >>> workers_text([12, 7]), workers_text([])
    (',7,12,', '')
    """
    numbers = ",".join(str(worker) for worker in sorted(workers))
    return f",{numbers}," if numbers else ""


def state_row(state: ImageState, image_id: int) -> models.StoredState:
    return models.StoredState(
        image_id=image_id,
        body=encode_state(state),
        facts=state.facts,
        status=status_of(state),
    )
