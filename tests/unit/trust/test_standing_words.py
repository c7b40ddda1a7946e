"""What workers read of their standing: true, in words, and nothing that gives a check away."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.hits.standing import standing_shown
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from annotation.pipeline.trust.standing import (
    BeganTest,
    Checked,
    Event,
    FinishedTest,
    Reinstated,
    Revoked,
    Standing,
    Trust,
    fold,
    follow,
)

SETTINGS = Settings()
PASSED = FinishedTest(right=10, asked=10)


def stand(*events: Event, stage: Stage = Stage.LINKS) -> Standing:
    return fold([BeganTest(), PASSED, *events], stage, SETTINGS)


def checks(right: int, wrong: int = 0) -> list[Event]:
    """Right ones first, wrong ones spread among them lest they end trust on the way."""
    answers = [True] * (right + wrong)
    for number in range(wrong):
        answers[(number + 1) * len(answers) // (wrong + 1)] = False
    return [Checked(right=answer) for answer in answers]


def read(standing: Standing, stage: Stage = Stage.LINKS, settings: Settings = SETTINGS) -> str:
    shown = standing_shown(standing, stage, settings)
    return "\n".join([shown.title, *shown.lines])


def test_who_is_new_or_has_not_passed_learns_what_the_test_takes() -> None:
    assert read(Standing()) == (
        "You are new to this task\n"
        "Pass the test to begin: answer at least 80% of its questions correctly."
    )
    failed = fold([BeganTest(), FinishedTest(right=1, asked=10)], Stage.QUALITY, SETTINGS)
    assert "not passed the test yet" in read(failed, Stage.QUALITY)
    assert "at least 78%" in read(failed, Stage.QUALITY)


def test_probation_begins_with_what_it_takes() -> None:
    assert read(stand()) == (
        "You are on probation\n"
        "Your accuracy is not known yet. This task requires 80%.\n"
        "To become trusted, at least 24 of your next 30 checked answers must be right.\n"
        "We update these numbers after every 10 checked answers; they do not change in between."
    )


def test_on_the_way_there_is_an_accuracy_with_its_uncertainty() -> None:
    assert read(stand(*checks(17, 3))) == (
        "You are on probation\n"
        "Your accuracy is 85%: 17 of 20 checked answers were right. This task requires 80%.\n"
        "Part of that may be luck: with 95% certainty, your true accuracy is between 64% and 95%.\n"
        "To become trusted, at least 7 of your next 10 checked answers must be right.\n"
        "We update these numbers after every 10 checked answers; they do not change in between."
    )


def test_who_fell_short_learns_that_all_must_be_right_now() -> None:
    assert "all of your next 5 checked answers must be right" in read(stand(*checks(23, 7)))


def test_who_cannot_reach_it_any_more_is_not_kept_hoping() -> None:
    standing = stand(*checks(36, 14))
    assert standing.trust is Trust.PROBATION
    assert "You can no longer reach that" in read(standing)


def test_nothing_more_to_show_but_time() -> None:
    easy = replace(SETTINGS, minimum_performance=dict.fromkeys(Stage, 0.5))
    standing = fold([BeganTest(), PASSED, *checks(20)], Stage.LINKS, easy)
    assert "To become trusted, you need 10 more checked answers." in read(standing, settings=easy)


def test_the_trusted_learn_what_would_end_it() -> None:
    text = read(stand(*checks(30)))
    assert text.startswith("You are trusted\n")
    assert "Your accuracy is 100%: 30 of 30 checked answers were right." in text
    assert "between 89% and 100%" in text
    assert "You would lose this status after 7 wrong answers to checked questions in a row" in text


def test_where_people_decide_no_number_ends_it() -> None:
    crowd = CrowdSettings(trust_limit=0.0, trust_drop_limit=0.0)
    text = read(stand(*checks(30)), settings=replace(SETTINGS, crowd=crowd))
    assert "stay trusted" in text
    assert "in a row" not in text


def test_who_lost_trust_learns_why_in_numbers_and_what_to_do() -> None:
    standing = stand(*[Checked(right=False)] * 3)
    assert standing.trust is Trust.REVOKED
    text = read(standing)
    assert text.startswith("You can no longer work on this task\nWhy: 3 of your last 3 checked")
    assert "0 of 3" in text
    assert "You will be paid" in text
    assert "you can appeal" in text


@pytest.mark.parametrize(
    ("reason", "line"),
    [("same answer to all", "Why: same answer to all."), ("Sorry!", "Why: Sorry!"), ("  ", "")],
)
def test_a_researchers_reason_is_told_as_it_is(reason: str, line: str) -> None:
    text = read(stand(Revoked(reason=reason)))
    assert ("Why:" in text) == bool(line)
    assert line in text
    # There is no accuracy to tell of.
    assert "not known" not in text


def test_who_is_reinstated_begins_anew() -> None:
    again = stand(*[Checked(right=False)] * 3, Reinstated())
    assert "at least 24 of your next 30" in read(again)
    assert "Why" not in read(again)


def test_boxes_are_judged_and_not_answered() -> None:
    text = read(stand(*checks(9, 1), stage=Stage.DRAWING), Stage.DRAWING)
    assert "9 of 10 checked boxes were good" in text
    assert "every 10 checked boxes" in text
    assert "answer" not in text


@given(st.lists(st.booleans(), max_size=70))
def test_nothing_moves_between_two_tellings(answers: list[bool]) -> None:
    standing = stand()
    texts = [(standing, read(standing))]
    for right in answers:
        standing = follow(standing, Checked(right=right), Stage.LINKS, SETTINGS)
        texts.append((standing, read(standing)))
    for (before, old), (after, new) in pairwise(texts):
        if after.trust is before.trust and after.now.checks % 10:
            assert old == new


@given(st.lists(st.booleans(), max_size=70), st.sampled_from(list(Stage)))
def test_every_standing_has_words(answers: list[bool], stage: Stage) -> None:
    standing = stand(*[Checked(right=right) for right in answers], stage=stage)
    shown = standing_shown(standing, stage, SETTINGS)
    assert shown.title
    assert shown.lines
    assert all(line == line.strip() and line.endswith((".", "!")) for line in shown.lines)
