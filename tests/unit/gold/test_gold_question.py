"""Gold questions: what makes sense as one, who gets which, and when one is retired."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.geometry import Rect
from annotation.pipeline.gold.gold_question import (
    GoldAnswer,
    Offer,
    choose_gold,
    gold_problem,
    is_disputed,
    is_leaked,
    is_right,
    launch_problems,
)
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.answers import Answer
from annotation.pipeline.work.display import Mark, Shown
from tests.unit.gold.park import (
    BALL,
    CROWD,
    SETTINGS,
    made,
    park_state,
)

# Grading and handing out


def test_grading() -> None:
    gold = made(Stage.LINKS)[0]
    assert is_right(gold, Answer(answer=gold.answer, comment="hm", milliseconds=5))
    assert not is_right(gold, Answer(answer="no" if gold.answer == "yes" else "yes"))


def test_what_is_no_gold_question() -> None:
    state = park_state()
    links = made(Stage.LINKS)[0]
    cases = {
        "Box Drawing has no": replace(links, stage=Stage.DRAWING),
        "'good' is not an answer of links": replace(links, answer="good"),
        "the image has no caption 9": replace(links, shown=replace(links.shown, captions=(9, 1))),
        "links needs 2 marked phrases, not 1": replace(
            links, shown=replace(links.shown, marks=links.shown.marks[:1])
        ),
        "links shows no boxes": replace(links, shown=replace(links.shown, boxes=(BALL,))),
        "is not shown": replace(links, shown=replace(links.shown, captions=())),
        "Box Quality needs one blue box": replace(
            links, shown=replace(links.shown, candidate=BALL)
        ),
        "tokens 0 to 99 are outside caption 1": replace(
            links, shown=Shown(captions=(1,), marks=(Mark(0, 1, 0, 99, 1),) * 2)
        ),
        "is not a mention of caption 1, so workers could spot": replace(
            links, shown=Shown(captions=(1,), marks=(Mark(0, 1, 0, 1, 1),) * 2)
        ),
        "no mention 99": replace(
            links, shown=Shown(captions=(1,), marks=(Mark(99, 1, 0, 1, 1),) * 2)
        ),
        "lies outside": replace(
            made(Stage.COVERAGE)[0],
            shown=replace(made(Stage.COVERAGE)[0].shown, boxes=(Rect(1, 1, 401, 9),)),
        ),
    }
    for problem, gold in cases.items():
        assert problem in str(gold_problem(gold, state))


offers = st.lists(
    st.builds(
        Offer,
        number=st.integers(1, 40),
        image=st.sampled_from("abcdef"),
        answer=st.sampled_from(["yes", "no"]),
        uses=st.integers(0, 5),
        is_judged=st.booleans(),
    ),
    unique_by=lambda offer: offer.number,
)


@given(offers, st.sets(st.integers(1, 40)), st.integers(0, 12), st.text())
def test_handing_out(available: list[Offer], seen: set[int], count: int, seed: str) -> None:
    numbers = choose_gold(available, seen, count, seed)
    fresh = [offer for offer in available if offer.number not in seen]
    assert len(numbers) == len(set(numbers)) == min(count, len(fresh))
    assert not seen.intersection(numbers)
    assert numbers == choose_gold(reversed(available), seen, count, seed)


def test_no_image_twice_as_long_as_there_are_others() -> None:
    available = [Offer(n, f"image {n // 4}", "yes" if n % 2 else "no") for n in range(80)]
    for seed in range(20):
        assert len({n // 4 for n in choose_gold(available, (), 20, str(seed))}) == 20
    assert len(choose_gold(available, (), 30, "s")) == 30


def test_the_least_used_come_first() -> None:
    available = [Offer(n, f"image {n}", "yes", uses=n % 5) for n in range(1, 51)]
    for seed in range(20):
        chosen = choose_gold(available, (), 10, str(seed))
        assert {n % 5 for n in chosen} == {0}


def test_images_that_the_worker_has_judged_come_last() -> None:
    available = [
        Offer(n, f"image {n}", "yes" if n % 2 else "no", uses=n, is_judged=n <= 20)
        for n in range(1, 41)
    ]
    for seed in range(20):
        assert min(choose_gold(available, (), 20, str(seed))) > 20
    # There are no others: without any checks nobody could be trusted.
    assert len(choose_gold(available, (), 30, "s")) == 30


def test_answers_are_balanced_whatever_the_stock() -> None:
    available = [Offer(n, f"image {n}", "yes" if n < 90 else "no") for n in range(1, 101)]
    for seed in range(20):
        chosen = choose_gold(available, (), 10, str(seed))
        assert sum(n < 90 for n in chosen) == 5
    # One at a time as well, by lot.
    singles = [choose_gold(available, (), 1, str(seed))[0] for seed in range(400)]
    assert 150 < sum(n < 90 for n in singles) < 250


def test_launch_needs_enough_of_every_answer() -> None:
    enough = {stage: dict.fromkeys(spec_of(stage).answers, 30) for stage in Stage}
    assert launch_problems(enough, SETTINGS) == []
    few = enough | {Stage.LINKS: {"yes": 59}, Stage.QUALITY: {"good": 60}}
    assert launch_problems(few, SETTINGS) == [
        "links has 59 gold questions and needs 60",
        "quality has no gold question with the answer bad",
    ]
    assert len(launch_problems({}, SETTINGS)) == 5


# Retiring


def answers_of(pattern: str, accuracy: float = 0.9) -> list[GoldAnswer]:
    return [GoldAnswer(sign == "+", accuracy) for sign in pattern]


def test_a_leaked_question_is_retired() -> None:
    # 0.9 to the power of 43 is above 0.01, of 44 below.
    assert not is_leaked(answers_of("+" * 43), CROWD)
    assert is_leaked(answers_of("+" * 44), CROWD)
    assert is_leaked(answers_of("--" + "+" * 44), CROWD)
    assert not is_leaked(answers_of("+" * 44 + "-" + "+" * 20), CROWD)
    # Of workers who are often wrong fewer are enough, but never too few to tell.
    assert not is_leaked(answers_of("+" * 19, accuracy=0.5), CROWD)
    assert is_leaked(answers_of("+" * 20, accuracy=0.5), CROWD)
    assert not is_leaked(answers_of("+" * 500, accuracy=1.0), CROWD)
    assert is_leaked(answers_of("+" * 5), CrowdSettings(gold_leak_answers=5, gold_leak_limit=0.6))


def test_a_question_that_most_get_wrong_is_withdrawn() -> None:
    assert not is_disputed(answers_of("----"))
    assert is_disputed(answers_of("---++"))
    assert not is_disputed(answers_of("--+++"))
