"""What workers report beside their answers."""

import pytest

from annotation.pipeline.protocol.facts import (
    CaptionUnrelated,
    FactRefusedError,
    FixSpan,
    Judgment,
    NoBox,
    SendTo,
    Target,
)
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import Phase
from tests.unit.protocol.images import REVIEWER, Session, finished_man, one_ball


def test_a_phrase_cut_wrongly_sends_its_chain_to_review() -> None:
    session = one_ball()
    session.say("requirement/1/1", "box", cut_wrongly=(1,))
    assert session.chain(1).phase is Phase.REVIEW
    assert session.chain(1).review == "a phrase is cut wrongly"
    assert session.open == []


def test_a_chain_that_is_still_linked_goes_to_review_before_its_boxes() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes", cut_wrongly=(2,))
    assert session.open == ["verification/1/1"]
    session.say("verification/1/1", "true")
    assert session.chain(1).phase is Phase.REVIEW


def test_only_the_part_with_the_wrong_phrase_goes_to_review_when_a_chain_breaks() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes", cut_wrongly=(2,))
    session.say("verification/1/1", "false")
    assert [c.phase for c in session.state.chains] == [Phase.DRAWING, Phase.REVIEW]


def test_a_mended_phrase_needs_no_review_any_more() -> None:
    session = Session("[people A man] here .", "[people A guy] .", "[people A boy] .")
    session.say("links/2-1/1", "no", cut_wrongly=(1,))
    session.apply(FixSpan(REVIEWER, 1, 0, 3))
    session.say("links/3-1/1", "no")
    session.say("links/3-2/1", "no")
    assert session.chain(1).phase is Phase.DRAWING


def test_a_late_answers_report_is_heard() -> None:
    session = finished_man()
    judgment = session.judgment("coverage/1/2", "yes")
    session.apply(Judgment(judgment.worker, judgment.question, "yes", cut_wrongly=(1,)))
    assert session.chain(1).phase is Phase.REVIEW


def test_two_workers_mark_a_caption_as_unrelated_and_its_image_goes_to_review() -> None:
    session = Session("[people A man] .", "[animals A dog] .")
    session.say("drawing/1/1", "box", unrelated=(2,))
    assert session.open
    session.say("quality/1/1", "good", unrelated=(2,))
    assert list(session.state.flagged_captions) == [2]
    assert session.state.in_review
    assert session.open == []
    assert not session.state.is_finished


def test_one_worker_flags_a_caption_once() -> None:
    session = Session("[people A man] .", "[animals A dog] .")
    session.say("drawing/1/1", "box", worker=1, unrelated=(2,))
    session.say("requirement/2/1", "box", worker=1, unrelated=(2, 2))
    assert not list(session.state.flagged_captions)


def test_answers_under_way_still_count_while_the_image_waits() -> None:
    session = Session("[people A man] .", "[animals A dog] .")
    session.say("drawing/1/1", "box", unrelated=(2,))
    session.say("quality/1/1", "good", unrelated=(2,))
    assert session.open == []
    session.say("coverage/1/2", "yes")
    assert len(session.chain(1).coverage) == 1


@pytest.mark.parametrize("unrelated", [True, False])
def test_a_reviewer_ends_the_images_review_and_has_the_last_word(unrelated: bool) -> None:
    session = Session("[people A man] .", "[animals A dog] .")
    session.say("drawing/1/1", "box", unrelated=(2,))
    session.say("quality/1/1", "good", unrelated=(2,))
    session.apply(CaptionUnrelated(REVIEWER, 2, unrelated))
    assert session.open == ["coverage/1/2", "requirement/2/1"], "its mentions are still asked"
    session.say("coverage/1/2", "yes", unrelated=(2,))
    (flags,) = session.state.flags
    assert (flags.unrelated, flags.reviewed) == (unrelated, True)
    assert not session.state.in_review


def test_the_number_of_flags_is_a_setting() -> None:
    session = one_ball(Settings(unrelated_flags=1))
    session.say("requirement/1/1", "box", unrelated=(1,))
    assert list(session.state.flagged_captions) == [1]


@pytest.mark.parametrize(
    ("cut_wrongly", "unrelated", "why"),
    [
        ((7,), (), "there is no mention 7 in this image"),
        ((), (2,), "there is no caption 2 in this image"),
        ((), (0,), "there is no caption 0 in this image"),
    ],
)
def test_a_report_must_name_something_of_the_image(
    cut_wrongly: tuple[int, ...], unrelated: tuple[int, ...], why: str
) -> None:
    session = one_ball()
    question = question_from_key("requirement/1/1")
    with pytest.raises(FactRefusedError) as refusal:
        session.apply(Judgment(1, question, "box", None, cut_wrongly, unrelated))
    assert str(refusal.value) == why


def flagged_dog() -> tuple[Session, list[int]]:
    """Return an image whose third caption three workers flag, and the facts that flag it."""
    session = Session("[people A man] .", "[people A guy] .", "[animals A dog] .")
    flags = [
        session.say("links/2-1/1", "no", unrelated=(3,)),
        session.say("drawing/1/1", "box", unrelated=(3,)),
        session.say("quality/1/1", "good", unrelated=(3,)),
    ]
    return session, flags


def test_a_doubt_withdraws_the_flag_of_its_judgment_alone() -> None:
    session, flags = flagged_dog()
    session.doubt(flags[0])
    assert list(session.state.flagged_captions) == [3], "two are left"
    session.doubt(flags[1])
    assert not list(session.state.flagged_captions)
    assert [vote.fact for vote in session.state.flags[0].votes] == [flags[2]]


def test_a_doubt_does_not_change_a_reviewers_word() -> None:
    session, flags = flagged_dog()
    session.apply(CaptionUnrelated(REVIEWER, 3, True))
    for flag in flags:
        session.doubt(flag)
    assert session.state.flags[0].unrelated


def test_a_doubt_withdraws_the_report_of_its_judgment_alone() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people A boy] .")
    first = session.say("links/2-1/1", "no", cut_wrongly=(1,))
    second = session.say("links/3-1/1", "no", cut_wrongly=(3, 1, 3))
    assert [(r.vote.fact, r.mention) for r in session.state.cut_reports] == [
        (first, 1),
        (second, 1),
        (second, 3),
    ]
    session.doubt(second)
    assert [(r.vote.fact, r.mention) for r in session.state.cut_reports] == [(first, 1)]


def test_captions_are_kept_in_their_order() -> None:
    session = Session("[people A man] .", "[animals A dog] .")
    session.say("drawing/1/1", "box", unrelated=(2, 1))
    assert [flags.caption for flags in session.state.flags] == [1, 2]


@pytest.mark.parametrize(
    "decision", [SendTo(REVIEWER, 1, Target.DRAWING), NoBox(REVIEWER, 1, True, False)]
)
def test_a_decision_on_the_chain_answers_its_reports(decision: SendTo | NoBox) -> None:
    session = one_ball()
    session.say("requirement/1/1", "box", cut_wrongly=(1,))
    session.apply(decision)
    assert session.chain(1).phase is not Phase.REVIEW
    assert session.state.cut_reports == ()
