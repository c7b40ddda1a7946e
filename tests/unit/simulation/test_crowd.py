"""The simulated crowd: its answers, its errors, and that its work always ends."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.engine import apply, counts, open_questions
from annotation.pipeline.geometry import Rect, iou, rect_problem
from annotation.pipeline.protocol.facts import AcceptedImport, Fact, ImportedBox, ImportedChain
from annotation.pipeline.protocol.merge import merge
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import SETTLED, ImageState, Phase, accepted_boxes
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import PERFECT, QUALITY, TYPICAL, Crowd, Profile
from annotation.simulation.work import next_judgments
from tests.unit.gold.gold_images import gold_images, guess_to_the_end
from tests.unit.protocol.images import HEIGHT, WIDTH, Session

LEFT, RIGHT = Rect(1, 1, 30, 30), Rect(51, 1, 80, 30)
GOLD = AcceptedImport(
    chains=(
        ImportedChain((1, 4)),
        ImportedChain((2,), scene=True, nobndbox=True),
        ImportedChain((3,)),
        ImportedChain((5,), nobndbox=True),
    ),
    boxes=(ImportedBox((1,), LEFT), ImportedBox((1, 3), RIGHT)),
)
CAPTIONS = (
    "[people Two men] on [scene a road] .",
    "[people One man] and [people some men] .",
    "[other Luck] .",
)
KEY = AnswerKey(GOLD)
WORKERS = list(range(1, 13))


def crowd(profile: Profile = PERFECT, seed: int = 0) -> Crowd:
    return Crowd(WORKERS, profile, seed)


def work(state: ImageState, key: AnswerKey, workers: Crowd, limit: int = 500) -> ImageState:
    """Let the crowd answer all that is open, again and again, until nothing is."""
    given_answers = 0
    while True:
        judgments = list(next_judgments(state, key, workers, "7"))
        if not judgments:
            return state
        for judgment in judgments:
            if counts(state, judgment):
                state = apply(state, Fact(state.facts + 1, Settings(), judgment))
                given_answers += 1
                assert given_answers < limit


# Answers


def test_a_perfect_crowd_ends_at_the_answer_key() -> None:
    state = work(Session(*CAPTIONS).state, KEY, crowd())
    assert state.is_finished
    assert sorted(chain.mentions for chain in state.chains) == [(1, 4), (2,), (3,), (5,)]
    boxes = {c.mentions: [b.rect for b in accepted_boxes(state, c.number)] for c in state.chains}
    assert boxes == {(1, 4): [LEFT, RIGHT], (2,): [], (3,): [RIGHT], (5,): []}
    flags = {c.mentions: (c.scene, c.nobndbox) for c in state.chains if not boxes[c.mentions]}
    assert flags == {(2,): (True, True), (5,): (False, True)}
    merged = merge(state, Settings())
    assert sorted(box.rect for box in merged.boxes) == [LEFT, RIGHT]


def test_the_right_answers() -> None:
    session = Session(*CAPTIONS)
    answers = {
        question.key: KEY.answer(session.state, question)
        for question in open_questions(session.state)
    }
    assert answers == {"links/3-1/1": "no", "requirement/2/1": "scene", "requirement/3/1": "nobox"}
    session.say("links/3-1/1", "yes")
    verification = question_from_key("verification/1/1")
    assert KEY.answer(session.state, verification) == "false"


@pytest.mark.parametrize(
    ("rect", "answer"),
    [
        (LEFT, "good"),
        (Rect(1, 1, 30, 27), "good"),
        (Rect(1, 1, 30, 20), "bad"),
        (Rect(31, 40, 50, 60), "bad"),
        (Rect(1, 1, 80, 30), "bad"),
    ],
)
def test_a_box_is_good_if_it_fits_a_thing_tightly(rect: Rect, answer: str) -> None:
    session = Session("[people Two men] .")
    session.say("drawing/1/1", "box", rect=rect)
    assert KEY.answer(session.state, question_from_key("quality/1/1")) == answer


def test_a_second_box_round_one_thing_is_bad_and_a_missing_thing_is_missed() -> None:
    session = Session("[people Two men] .")
    session.say("drawing/1/1", "box", rect=LEFT)
    session.say("quality/1/1", "good")
    assert KEY.answer(session.state, question_from_key("coverage/1/2")) == "no"
    assert KEY.missing(session.state, 1) == [RIGHT]
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "box", rect=LEFT)
    assert KEY.answer(session.state, question_from_key("quality/2/1")) == "bad"


# The crowd


def test_the_supplements_quality_is_the_default() -> None:
    assert QUALITY == {
        Stage.LINKS: 0.906,
        Stage.VERIFICATION: 0.906,
        Stage.REQUIREMENT: 0.884,
        Stage.DRAWING: 0.824,
        Stage.QUALITY: 0.88,
        Stage.COVERAGE: 0.892,
    }


def test_the_same_seed_gives_the_same_judgments_whatever_came_before() -> None:
    session = Session(*CAPTIONS)
    first = list(next_judgments(session.state, KEY, crowd(TYPICAL, 5), "7"))
    workers = crowd(TYPICAL, 5)
    list(next_judgments(session.state, KEY, workers, "8"))
    assert list(next_judgments(session.state, KEY, workers, "7")) == first


def test_the_crowd_errs_as_often_as_its_profile_says() -> None:
    session = Session(*CAPTIONS)
    question = question_from_key("links/3-1/1")
    profile = Profile(accuracy=dict.fromkeys(Stage, 0.75))
    wrong = sum(
        crowd(profile, seed).judge(session.state, question, KEY, worker=1, image="7").answer != "no"
        for seed in range(400)
    )
    assert 70 <= wrong <= 130


def test_only_workers_who_may_answer_are_chosen() -> None:
    session = Session("[other A ball] .")
    question = question_from_key("requirement/1/1")
    session.say("requirement/1/1", "nobox", worker=1)
    assert Crowd([1, 2], PERFECT, 0).choose_worker(session.state, question, "7") == 2
    assert Crowd([1], PERFECT, 0).choose_worker(session.state, question, "7") is None


def test_wrong_drawings_are_bad_or_miss_a_thing_and_lie_in_the_image() -> None:
    session = Session("[people Two men] .")
    always_wrong = Profile(accuracy=dict.fromkeys(Stage, 0.0))
    kinds = set()
    for seed in range(60):
        judgment = crowd(always_wrong, seed).judge(
            session.state, question_from_key("drawing/1/1"), KEY, worker=1, image="7"
        )
        kinds.add(judgment.answer)
        if judgment.rect is not None:
            assert rect_problem(judgment.rect, WIDTH, HEIGHT) is None
    assert kinds == {"box", "none"}


def test_good_boxes_of_a_typical_crowd_are_near_the_thing() -> None:
    session = Session("[people Two men] .")
    steady = Profile(accuracy=dict.fromkeys(Stage, 1.0), jitter=0.03)
    for seed in range(30):
        judgment = crowd(steady, seed).judge(
            session.state, question_from_key("drawing/1/1"), KEY, worker=1, image="7"
        )
        assert judgment.rect is not None
        assert iou(judgment.rect, LEFT) >= 0.85


# Work ends


def outcome(state: ImageState) -> list[tuple[tuple[int, ...], Phase, list[Rect], bool]]:
    """Return what does not depend on the order in which chains and boxes got their numbers."""
    return sorted(
        (
            chain.mentions,
            chain.phase,
            sorted(box.rect for box in accepted_boxes(state, chain.number)),
            chain.scene,
        )
        for chain in state.chains
    )


def answer_in_any_order(state: ImageState, key: AnswerKey, seed: int) -> ImageState:
    random, workers = Random(seed), crowd()
    while questions := open_questions(state):
        question = random.choice(questions)
        worker = workers.choose_worker(state, question, "7")
        assert worker is not None
        judgment = workers.judge(state, question, key, worker=worker, image="7")
        state = apply(state, Fact(state.facts + 1, Settings(), judgment))
    return state


@settings(max_examples=15, deadline=None)
@given(gold_images(), st.integers(0, 999))
def test_right_answers_lead_to_the_same_end_in_any_order(
    drawn: tuple[ImageState, AcceptedImport], seed: int
) -> None:
    state, gold = drawn
    key = AnswerKey(gold)
    first = work(state, key, crowd())
    assert first.is_finished
    assert outcome(answer_in_any_order(state, key, seed)) == outcome(first)


@settings(max_examples=15, deadline=None)
@given(gold_images(), st.integers(0, 999))
def test_a_typical_crowd_settles_every_chain_or_sends_it_to_review(
    drawn: tuple[ImageState, AcceptedImport], seed: int
) -> None:
    state, gold = drawn
    end = work(state, AnswerKey(gold), crowd(TYPICAL, seed))
    assert open_questions(end) == []
    assert all(chain.phase in (*SETTLED, Phase.REVIEW) for chain in end.chains)


@settings(max_examples=15, deadline=None)
@given(gold_images(), st.integers(0, 999))
def test_even_guessing_comes_to_an_end(drawn: tuple[ImageState, AcceptedImport], seed: int) -> None:
    state = guess_to_the_end(drawn[0], seed)
    assert all(chain.phase in (*SETTLED, Phase.REVIEW) for chain in state.chains)


@pytest.mark.parametrize("seed", range(20))
def test_without_a_box_a_chain_leaves_after_few_answers(seed: int) -> None:
    session = Session("[other A ball] .")
    random = Random(seed)
    while session.open:
        (key,) = session.open
        session.say(key, "none" if key.startswith("drawing") else random.choice(("nobox", "box")))
    # Three entries at most, of three answers at first and one more each time, and the drawers'.
    assert session.state.facts <= 8
