"""Saving guides: checked against the campaign, versioned, in a constant few statements."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.work.guides import (
    GuideChangedError,
    guide_ensure,
    guide_save,
    guides_check,
    guides_save_all,
)
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.guides import (
    GuideError,
    shipped_consent,
    shipped_guide,
    shipped_source,
)
from annotation.selectors.work.guides import (
    TOPICS,
    consent_guide,
    guide_read,
    guides_current,
    lesson_images,
    stage_guide,
)
from tests.web.campaigns import image_named, small_campaign

pytestmark = pytest.mark.django_db

LESSON = """
[[test]]
image = "first"
captions = [{ number = 1, phrases = ["a man"] }, { number = 2, phrases = ["the guy"] }]
answer = "yes"
why = "There is one man."
"""
CONSENT = 'title = "Before"\nparagraphs = ["One."]\n'


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second"])


def problems(campaign: models.Campaign, sources: dict[str, str]) -> list[str]:
    with pytest.raises(GuideError) as refused:
        guides_save_all(campaign=campaign, sources=sources)
    with pytest.raises(GuideError, match=r"."):
        guides_check(campaign=campaign, sources=sources)
    return list(refused.value.problems)


def test_while_there_is_none_the_shipped_one_applies(campaign: models.Campaign) -> None:
    for stage in Stage:
        current = stage_guide(campaign, stage)
        assert (current.row, current.guide) == (None, shipped_guide(stage))
    consent = consent_guide(campaign)
    assert (consent.row, consent.guide) == (None, shipped_consent())


def test_saving_makes_versions(campaign: models.Campaign) -> None:
    first = guide_save(campaign=campaign, topic="links", source=LESSON)
    assert first.version == 1
    assert guide_save(campaign=campaign, topic="links", source=LESSON) == first
    second = guide_save(campaign=campaign, topic="links", source="# none\n")
    assert second.version == 2
    # Going back to an older text is a change as well.
    third = guide_save(campaign=campaign, topic="links", source=LESSON)
    assert third.version == 3
    current = stage_guide(campaign, Stage.LINKS)
    assert current.row == third
    assert len(current.guide.test) == 1
    assert current.guide.title == shipped_guide(Stage.LINKS).title
    assert guide_read(second).test == ()
    assert models.Guide.objects.count() == 3


def test_guides_are_a_campaigns_own(campaign: models.Campaign, tmp_path: Path) -> None:
    other = small_campaign(tmp_path, ["first"], name="other")
    guide_save(campaign=campaign, topic="links", source="# mine\n")
    guide_save(campaign=campaign, topic="links", source="# mine again\n")
    row = guide_save(campaign=other, topic="links", source="# theirs\n")
    guide_save(campaign=other, topic="consent", source=CONSENT)
    assert row.version == 1
    assert {t: (r.version, r.source) for t, r in guides_current(campaign).items()} == {
        "links": (2, "# mine again\n")
    }
    assert sorted(guides_current(other)) == ["consent", "links"]
    assert consent_guide(other).guide.title == "Before"
    assert consent_guide(campaign).row is None


def test_a_lesson_must_fit_the_campaigns_images(campaign: models.Campaign) -> None:
    boxes = """
        [[examples]]
        image = "second"
        captions = [{ number = 1, phrases = ["a horse"] }]
        boxes = [[1, 1, 60, 40], [1, 1, 61, 40]]
        answer = "no"
        why = "x"
    """
    sources = {
        "links": LESSON
        + LESSON.replace("first", "third")
        + LESSON.replace("a man", "a woman")
        + LESSON.replace("number = 2", "number = 3")
        + LESSON.replace('"first"', r'"fi\u0000rst"'),
        "coverage": boxes,
        "quality": "x",
        "lynx": "",
        "consent": "",
    }
    assert problems(campaign, sources) == [
        "quality.toml: not TOML: Expected '=' after a key in a key/value pair (at end of document)",
        "lynx.toml: there is no such topic; there are links, verification, requirement, drawing, "
        "quality, coverage, consent",
        "consent.toml: `title` is missing",
        "links.toml: test question 2: campaign 'rides' has no image 'third' with a photo",
        "links.toml: test question 3: caption 1 of 'first' does not contain 'a woman', or only in "
        "words that are already marked; it reads 'A man rides a horse .'",
        "links.toml: test question 4: image 'first' has no caption 3; its captions are 1, 2",
        "links.toml: test question 5: campaign 'rides' has no image 'fi\\x00rst' with a photo",
        "coverage.toml: example 1: image 'second': box 1,1–61,40 lies outside the 60×40 image",
    ]
    assert models.Guide.objects.count() == 0


def test_several_are_saved_together_or_not_at_all(campaign: models.Campaign) -> None:
    assert problems(campaign, {"links": LESSON, "consent": "title = 1"})
    assert models.Guide.objects.count() == 0
    saved = guides_save_all(campaign=campaign, sources={"links": LESSON, "consent": CONSENT})
    assert [(s.row.topic, s.row.version, s.is_new) for s in saved] == [
        ("links", 1, True),
        ("consent", 1, True),
    ]
    saved = guides_save_all(campaign=campaign, sources={"links": LESSON + "#", "consent": CONSENT})
    assert [(s.row.topic, s.row.version, s.is_new) for s in saved] == [
        ("links", 2, True),
        ("consent", 1, False),
    ]


def test_an_image_that_was_withdrawn_takes_no_new_lessons(campaign: models.Campaign) -> None:
    row = guide_save(campaign=campaign, topic="links", source=LESSON)
    image_withdraw(image=image_named(campaign, "first"), reason="asked for")
    # The old version can still be read; its image is simply not there any more.
    (lesson,) = guide_read(row).test
    assert lesson_images(campaign, {lesson.image, "second"}).keys() == {"second"}
    assert problems(campaign, {"links": LESSON + LESSON}) == [
        f"links.toml: test question {number}: campaign 'rides' has no image 'first' with a photo"
        for number in (1, 2)
    ]


def test_a_newer_version_is_not_overwritten_unseen(campaign: models.Campaign) -> None:
    first = guide_save(campaign=campaign, topic="links", source="# one\n", seen=0)
    with pytest.raises(GuideChangedError) as refused:
        guide_save(campaign=campaign, topic="links", source="# two\n", seen=0)
    assert refused.value.row == first
    second = guide_save(campaign=campaign, topic="links", source="# two\n", seen=1)
    assert second.version == 2
    # A double click sends the same text twice: no harm.
    assert guide_save(campaign=campaign, topic="links", source="# two\n", seen=1) == second


@pytest.mark.parametrize("topic", TOPICS)
def test_the_shipped_text_can_be_pinned(campaign: models.Campaign, topic: str) -> None:
    row = guide_ensure(campaign=campaign, topic=topic)
    assert (row.version, row.source) == (1, shipped_source(topic))
    assert guide_ensure(campaign=campaign, topic=topic) == row
    assert guides_current(campaign) == {topic: row}


def statements(campaign: models.Campaign, source: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        guide_save(campaign=campaign, topic="links", source=source)
    return len(queries)


def test_statements_do_not_grow_with_lessons_or_versions(campaign: models.Campaign) -> None:
    few = statements(campaign, LESSON)
    many = statements(campaign, (LESSON + LESSON.replace("first", "second")) * 20)
    assert many == few
    with CaptureQueriesContext(connection) as queries:
        stage_guide(campaign, Stage.LINKS)
        consent_guide(campaign)
        guides_current(campaign)
    assert len(queries) == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
def test_many_at_once_pin_one_version(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["first"])

    def pin(_: int) -> int:
        try:
            return guide_ensure(campaign=campaign, topic="consent").pk
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=6) as pool:
        assert len(set(pool.map(pin, range(6)))) == 1
    assert models.Guide.objects.count() == 1
