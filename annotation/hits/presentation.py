"""Turns rows into messages for the page's script."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from django.urls import reverse

from annotation import models
from annotation.actions.work.sittings import Opened
from annotation.hits import wire
from annotation.hits.standing import standing_shown
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import Answer, decode_answer
from annotation.pipeline.work.display import Shown, decode_shown
from annotation.pipeline.work.guides import GuideError, Lesson, StageGuide, lesson_shown
from annotation.selectors.corpus.photos import photo_url
from annotation.selectors.trust.standing import standing_of
from annotation.selectors.work.guides import CurrentConsent, LessonImage, lesson_images
from annotation.selectors.work.sittings import (
    Graded,
    grade,
    is_explained,
    sitting_lessons,
    sitting_score,
    sitting_ways,
)

_Way = wire.Way | Literal[""]
# Fields of an answer that go into the platform's form; comments stay with us.
_FORM_FIELDS = ("rect", "way", "milliseconds", "reasons", "cut_wrongly", "unrelated")


def guide_shown(guide: StageGuide, campaign_id: int, stage: Stage) -> wire.Guide:
    where = {"campaign_id": campaign_id, "stage": stage.value}
    return wire.Guide(
        title=guide.title,
        question=guide.question,
        guidelines=guide.guidelines,
        examples_url=reverse("hits:examples", kwargs=where),
    )


def consent_text(consent: CurrentConsent) -> wire.ConsentText:
    # The shipped text becomes version 1 when the first worker agrees to it.
    return wire.ConsentText(
        version=consent.row.version if consent.row else 1,
        title=consent.guide.title,
        paragraphs=consent.guide.paragraphs,
    )


def sitting_reply(opened: Opened, stage: Stage) -> wire.Sitting:
    """Return the reply to `open`."""
    sitting, now = opened.sitting, opened.now
    # A test shows its score instead of a standing that the marketplace has yet to confirm.
    is_test = sitting is not None and sitting.kind == SittingKind.TEST
    standing = None if is_test else standing_shown(opened.standing, stage, opened.settings)
    clock = int(now.timestamp() * 1000)
    if sitting is None:
        return wire.Sitting(
            id=0,
            clock=clock,
            items=(),
            ways=(),
            seconds_left=0,
            finished=False,
            fields=None,
            score=None,
            empty=opened.empty,
            standing=standing,
        )
    finished = sitting.status == SittingStatus.FINISHED
    is_withheld = is_test and not is_explained(sitting)
    return wire.Sitting(
        id=sitting.pk,
        clock=clock,
        items=tuple(_items(sitting, opened.questions)),
        ways=msgspec.convert(sitting_ways(sitting), tuple[wire.Way, ...]),
        seconds_left=max(0, int((sitting.until - now).total_seconds())),
        finished=finished,
        fields=form_fields(sitting) if finished else None,
        score=score_shown(sitting),
        empty="",
        standing=standing,
        withheld=is_withheld,
    )


def finished_reply(sitting: models.Sitting) -> wire.Finished:
    """Return the reply to `finish`; the standing in it does not count these answers yet."""
    shown = None
    if sitting.kind == SittingKind.WORK:
        stage = Stage(sitting.stage)
        standing = standing_of(sitting.campaign, sitting.known_worker, stage)
        shown = standing_shown(standing, stage, sitting.campaign.settings)
    return wire.Finished(fields=form_fields(sitting), score=score_shown(sitting), standing=shown)


def form_fields(sitting: models.Sitting) -> dict[str, str]:
    """Return the fields of the platform's form: the answers, so that each side has a copy.

    By number only: what a question is about would reveal which of them are gold questions.
    """
    answers = []
    for row in sitting.questions.exclude(answer="").order_by("number"):
        given = decode_answer(row.answer)
        told = {name: getattr(given, name) for name in _FORM_FIELDS if getattr(given, name)}
        answers.append({"number": row.number, "answer": given.answer, **told})
    return {
        "sitting": str(sitting.pk),
        "digest": sitting.digest,
        "answers": msgspec.json.encode(answers).decode(),
    }


def score_shown(sitting: models.Sitting) -> wire.Score | None:
    score = sitting_score(sitting)
    if score is None or not is_explained(sitting):
        return None
    return wire.Score(
        right=score.right, asked=score.asked, needed=score.needed, passed=score.passed
    )


def feedback_shown(graded: Graded) -> wire.Feedback:
    return _lesson_feedback(graded.lesson, right=graded.right)


def lesson_items(
    lessons: Sequence[Lesson], campaign: models.Campaign, stage: Stage, *, explained: bool
) -> tuple[wire.Item, ...]:
    """Return examples as items, with or without the right answer and why.

    Examples whose photo is gone are left out.
    """
    images = lesson_images(campaign, {lesson.image for lesson in lessons}) if lessons else {}
    items: list[wire.Item] = []
    for lesson in lessons:
        image = images.get(lesson.image)
        what = _lesson_shown(lesson, stage, image)
        if image is None or what is None:
            continue
        feedback = _lesson_feedback(lesson, right=None) if explained else None
        tokens = {number: caption.tokens for number, caption in image.captions.items()}
        items.append(_item(len(items) + 1, image.row, tokens, what, None, feedback))
    return tuple(items)


def answer_read(answer: wire.Answer) -> Answer:
    return Answer(
        answer=answer.answer,
        rect=answer.rect,
        way=answer.way,
        milliseconds=answer.milliseconds,
        reasons=answer.reasons,
        cut_wrongly=answer.cut_wrongly,
        unrelated=answer.unrelated,
        comment=answer.comment,
    )


def _items(
    sitting: models.Sitting, questions: Iterable[models.SittingQuestion]
) -> Iterable[wire.Item]:
    is_test = sitting.kind == SittingKind.TEST
    lessons = sitting_lessons(sitting) if is_test else ()
    for row in questions:
        tokens = {c.number: tuple(c.text.split(" ")) for c in row.image.captions.all()}
        feedback = None
        if is_test and row.answer and is_explained(sitting):
            feedback = feedback_shown(grade(sitting, row, lessons))
        yield _item(row.number, row.image, tokens, decode_shown(row.shown), _answer(row), feedback)


def _answer(row: models.SittingQuestion) -> wire.Answer | None:
    if not row.answer:
        return None
    given = decode_answer(row.answer)
    return wire.Answer(
        answer=given.answer,
        rect=given.rect,
        way=msgspec.convert(given.way, _Way),
        milliseconds=given.milliseconds,
        reasons=msgspec.convert(given.reasons, tuple[wire.Reason, ...]),
        cut_wrongly=given.cut_wrongly,
        unrelated=given.unrelated,
        comment=row.comment,
    )


def _item(
    number: int,
    image: models.Image,
    tokens: Mapping[int, tuple[str, ...]],
    what: Shown,
    answer: wire.Answer | None,
    feedback: wire.Feedback | None,
) -> wire.Item:
    first = what.marks[0] if what.marks else None
    return wire.Item(
        number=number,
        photo=wire.Photo(url=photo_url(image), width=image.width, height=image.height),
        captions=tuple(_caption(n, tokens[n], what) for n in what.captions),
        phrase=" ".join(tokens[first.caption][first.start : first.end]) if first else "",
        boxes=what.boxes,
        candidate=what.candidate,
        answer=answer,
        feedback=feedback,
    )


def _caption(number: int, tokens: tuple[str, ...], what: Shown) -> wire.Caption:
    marks = [
        wire.Mark(mention=m.mention, start=m.start, end=m.end, colour=m.colour)
        for m in what.marks
        if m.caption == number
    ]
    return wire.Caption(number=number, tokens=tokens, marks=tuple(marks))


def _lesson_shown(lesson: Lesson, stage: Stage, image: LessonImage | None) -> Shown | None:
    if image is None:
        return None
    try:
        return lesson_shown(lesson, stage, image.captions, image.row.width, image.row.height)
    except GuideError:
        return None


def _lesson_feedback(lesson: Lesson, *, right: bool | None) -> wire.Feedback:
    return wire.Feedback(
        right=right, expected=lesson.answer, expected_rects=lesson.expected, why=lesson.why
    )
