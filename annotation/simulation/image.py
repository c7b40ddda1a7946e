"""One image worked on by the simulated crowd, in memory."""

from collections.abc import Iterator

from annotation.pipeline.engine import open_questions
from annotation.pipeline.facts import Judgment
from annotation.pipeline.state import ImageState
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
