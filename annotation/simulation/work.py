"""What the simulated crowd does with one image."""

from collections.abc import Iterator

from annotation.pipeline.engine import apply, open_questions
from annotation.pipeline.protocol.facts import Fact, Judgment
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import Crowd


def next_judgments(
    state: ImageState, key: AnswerKey, crowd: Crowd, image: str
) -> Iterator[Judgment]:
    """Yield a judgment for every question that is open now and that somebody may answer."""
    for question in open_questions(state):
        worker = crowd.choose_worker(state, question, image)
        if worker is not None:
            yield crowd.judge(state, question, key, worker=worker, image=image)


def work_in_memory(
    state: ImageState, key: AnswerKey, crowd: Crowd, image: str, settings: Settings
) -> tuple[ImageState, list[Judgment]]:
    """Answer whatever can be answered until nothing can, without a database."""
    given: list[Judgment] = []
    while batch := list(next_judgments(state, key, crowd, image)):
        for judgment in batch:
            state = apply(state, Fact(number=state.facts + 1, settings=settings, body=judgment))
        given += batch
    return state, given
