"""A simulated worker's answers to the questions of a sitting.

People look at the photo. The simulation looks the questions up in the database instead, and errs
as often as people do: with the same model as the direct simulation (`simulation.crowd`).
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final

from annotation import models
from annotation.models import SittingKind
from annotation.pipeline.engine import open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.work.guides import Lesson
from annotation.selectors.work.sittings import sitting_lessons, sitting_ways
from annotation.simulation.crowd import Person, draws, spam
from annotation.simulation.http.task import Given
from annotation.simulation.run import answer_key

# Seconds per question: the supplement's times per HIT, divided by the questions in one.
SECONDS: Final[dict[Stage, float]] = {
    Stage.LINKS: 7.5,
    Stage.VERIFICATION: 19.0,
    Stage.REQUIREMENT: 8.1,
    Stage.DRAWING: 26.8,
    Stage.QUALITY: 11.0,
    Stage.COVERAGE: 9.1,
}


def sitting_answers(
    sitting_id: int, person: Person, numbers: Sequence[int], *, is_spam: bool = False
) -> list[Given]:
    """Answer these questions of a sitting, each as far as it can be looked up."""
    sitting = models.Sitting.objects.select_related("guide", "campaign").get(pk=sitting_id)
    rows = (
        models.SittingQuestion.objects.filter(sitting=sitting, number__in=numbers)
        .select_related("image__stored_state", "image__answer_key", "gold")
        .order_by("number")
    )
    return list(_given(sitting, rows, person, is_spam=is_spam))


def _given(
    sitting: models.Sitting,
    rows: Iterable[models.SittingQuestion],
    person: Person,
    *,
    is_spam: bool,
) -> Iterator[Given]:
    stage = Stage(sitting.stage)
    lessons = sitting_lessons(sitting)
    ways = sitting_ways(sitting)
    for row in rows:
        random = draws(person.seed, "sitting", sitting.pk, row.number, person.place)
        if is_spam:
            answer, rect = spam(stage, _size(row), random)
        elif sitting.kind == SittingKind.TEST:
            answer, rect = _to_test(stage, lessons[row.number - 1], row, person)
        elif row.gold is not None:
            answer = person.answer_known(stage, row.gold.answer, f"gold/{row.gold.key}")
            rect = None
        else:
            answer, rect = _to_question(stage, row, person, random)
        yield Given(
            number=row.number,
            answer=answer,
            rect=rect,
            way=random.choice(ways) if rect else "",
            milliseconds=int(1000 * SECONDS[stage] * random.uniform(0.5, 1.5)),
        )


def _to_test(
    stage: Stage, lesson: Lesson, row: models.SittingQuestion, person: Person
) -> tuple[str, Rect | None]:
    # A worker who retakes the test does not repeat every error.
    about = f"test/{row.sitting_id}/{row.number}"
    if stage is Stage.DRAWING:
        return person.draw_known(lesson.expected, _size(row), about)
    return person.answer_known(stage, lesson.answer, about), None


def _to_question(
    stage: Stage, row: models.SittingQuestion, person: Person, random: Random
) -> tuple[str, Rect | None]:
    state, question = row.image.stored_state.state, question_from_key(row.key)
    is_open = any(one.key == row.key for one in open_questions(state))
    if not is_open or not hasattr(row.image, "answer_key"):
        # It was settled meanwhile, or is unknown: the answer does not matter.
        return spam(stage, _size(row), random)
    return person.answer(state, question, answer_key(row.image), row.image.name)


def _size(row: models.SittingQuestion) -> tuple[int, int]:
    return row.image.width, row.image.height
