"""Gold questions: made of what is sure, handed out fairly, retired."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.corpus.corpus_image import annotation_of
from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.gold.boxes import BAD_IOU, SAME_IOU, bad_boxes
from annotation.pipeline.gold.gold_question import (
    Gold,
    GoldAnswer,
    GoldSource,
    Offer,
    choose_gold,
    decode_gold,
    encode_gold,
    gold_problem,
    is_disputed,
    is_leaked,
    is_right,
    launch_problems,
)
from annotation.pipeline.gold.known_images import (
    KnownImage,
    imported_chains,
    known_annotation,
    known_image,
    reviewed_chains,
    unanimous_chains,
)
from annotation.pipeline.gold.maker import APART_IOU, make_gold
from annotation.pipeline.protocol.facts import NoBox
from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import ImageState, find_chain
from annotation.pipeline.release.folder import (
    ReleasedBox,
    ReleasedImage,
    UnboxedChain,
    parse_sentence,
)
from annotation.pipeline.work.answers import Answer
from annotation.pipeline.work.display import Mark, Shown, shown
from tests.unit.protocol.images import (
    REVIEWER,
    Session,
    finished_man,
    image,
    one_ball,
    read_captions,
)

SETTINGS = Settings()
CROWD = SETTINGS.crowd
SENTENCES = (
    "[/EN#1/people A man] holds [/EN#5/other a red ball] near [/EN#3/animals two dogs] .",
    "[/EN#1/people A tall person] with [/EN#3/animals dogs] in [/EN#4/scene a park] .",
    "[/EN#2/people A girl] watches [/EN#3/animals two puppies] on [/EN#6/other a nice day] .",
    "[/EN#7/people The crowd] sees [/EN#5/other the toy] in [/EN#8/scene spring] .",
)
MAN, GIRL = Rect(100, 50, 180, 280), Rect(5, 60, 70, 270)
DOG, PUPPY = Rect(200, 200, 260, 280), Rect(300, 210, 380, 290)
BALL = Rect(270, 20, 330, 80)


def park() -> ReleasedImage:
    return ReleasedImage(
        image="park",
        filename="park.jpg",
        width=400,
        height=300,
        depth=3,
        sentences=tuple(parse_sentence(line) for line in SENTENCES),
        boxes=(
            ReleasedBox(chains=(1, 7), rect=MAN),
            ReleasedBox(chains=(2, 7), rect=GIRL),
            ReleasedBox(chains=(3,), rect=DOG),
            ReleasedBox(chains=(3,), rect=PUPPY),
            ReleasedBox(chains=(5,), rect=BALL),
        ),
        unboxed=(
            UnboxedChain(chain=4, scene=True, nobndbox=False),
            UnboxedChain(chain=6, scene=False, nobndbox=True),
            UnboxedChain(chain=8, scene=True, nobndbox=True),
        ),
    )


def park_state() -> ImageState:
    captions = []
    for line in SENTENCES:
        # `[/EN#1/people A man]` as `[people A man]`.
        words = [w.split("/", 2)[-1] if w.startswith("[/EN#") else w for w in line.split()]
        captions.append(
            " ".join(
                f"[{w}" if raw.startswith("[/EN#") else w
                for raw, w in zip(line.split(), words, strict=True)
            )
        )
    return replace(image(*captions), width=400, height=300)


def known_park() -> KnownImage:
    return known_annotation("park", park_state(), annotation_of(park()))


def made(stage: Stage, known: KnownImage | None = None, seeds: int = 60) -> list[Gold]:
    """Return all that seeds bring about, each once."""
    found = {
        gold.key: gold
        for seed in range(seeds)
        for gold in make_gold(known or known_park(), stage, SETTINGS, str(seed))
    }
    return list(found.values())


def words(gold: Gold) -> tuple[str, ...]:
    captions, _ = read_captions(*[" ".join(c.tokens) for c in park_state().captions])
    return tuple(
        " ".join(captions[m.caption - 1].tokens[m.start : m.end]) for m in gold.shown.marks
    )


def test_the_order_of_chains_changes_no_pairs() -> None:
    known = known_park()
    turned = replace(known, chains=known.chains[::-1])
    pairs = {frozenset(words(gold)) for gold in made(Stage.LINKS, known)}
    assert frozenset({"A man", "A girl"}) in pairs
    assert {frozenset(words(gold)) for gold in made(Stage.LINKS, turned)} == pairs


# Making


def test_all_that_is_made_makes_sense() -> None:
    for stage in Stage:
        golds = made(stage)
        assert bool(golds) == (stage is not Stage.DRAWING)
        for gold in golds:
            assert gold_problem(gold, park_state()) is None
            assert gold.source is GoldSource.IMPORTED
            assert decode_gold(encode_gold(gold)) == gold
        if golds:
            assert {gold.answer for gold in golds} == set(spec_of(stage).answers)


def test_the_same_seed_makes_the_same() -> None:
    for stage in Stage:
        once = make_gold(known_park(), stage, SETTINGS, "seed")
        assert once == make_gold(known_park(), stage, SETTINGS, "seed")
        # And few of each answer.
        assert max(Counter(gold.answer for gold in once).values(), default=0) <= 2


def test_links_within_a_chain_and_between_chains() -> None:
    by_answer = {
        answer: {words(g) for g in made(Stage.LINKS) if g.answer == answer}
        for answer in ("yes", "no")
    }
    assert by_answer["yes"] == {
        ("A tall person", "A man"),
        ("dogs", "two dogs"),
        ("two puppies", "two dogs"),
        ("two puppies", "dogs"),
        ("the toy", "a red ball"),
    }
    # Not with the crowd, whose boxes are theirs; not across types; not what has no box.
    assert by_answer["no"] == {("A girl", "A man"), ("A girl", "A tall person")}


def test_links_show_what_the_page_would() -> None:
    gold = next(g for g in made(Stage.LINKS) if words(g) == ("dogs", "two dogs"))
    numbers = tuple(mark.mention for mark in gold.shown.marks)
    assert gold.shown == shown(park_state(), Question(stage=Stage.LINKS, subject=numbers))


def test_verification_true_and_with_a_foreign_phrase() -> None:
    golds = made(Stage.VERIFICATION)
    assert {words(g) for g in golds if g.answer == "true"} == {
        ("A man", "A tall person"),
        ("two dogs", "dogs", "two puppies"),
        ("a red ball", "the toy"),
    }
    false = {words(g) for g in golds if g.answer == "false"}
    assert false == {
        ("A man", "A tall person", "A girl"),
        ("A tall person", "A girl"),
        ("A man", "A girl"),
    }
    assert all(g.shown.captions == (1, 2, 3, 4) for g in golds)


def test_requirement_leaves_out_what_is_not_asked_and_what_is_both() -> None:
    golds = made(Stage.REQUIREMENT)
    assert {(words(g), g.answer) for g in golds} == {
        (("a red ball",), "box"),
        (("two puppies",), "box"),
        (("a park",), "scene"),
        (("a nice day",), "nobox"),
    }


def test_quality_good_and_bad_in_every_way() -> None:
    golds = made(Stage.QUALITY)
    right = {"A man": [MAN], "A tall person": [MAN], "A girl": [GIRL], "two puppies": [DOG, PUPPY]}
    right |= {"a red ball": [BALL], "The crowd": [MAN, GIRL]}
    for gold in golds:
        candidate = gold.shown.candidate
        assert candidate is not None
        free = [rect for rect in right[words(gold)[0]] if rect not in gold.shown.boxes]
        best = max((iou(candidate, rect) for rect in free), default=0.0)
        assert best == 1 if gold.answer == "good" else best <= BAD_IOU
    assert {gold.kind for gold in golds} == {
        "",
        "loose",
        "cut",
        "shifted",
        "wrong thing",
        "several things",
        "already covered",
    }


def test_a_wrong_thing_is_of_a_type_that_the_phrase_does_not_have() -> None:
    people, animals, things = {MAN, GIRL}, {DOG, PUPPY}, {BALL}
    foreign = {"A man": animals | things, "A girl": animals | things, "The crowd": animals | things}
    foreign |= {"A tall person": animals | things, "a red ball": people | animals}
    foreign |= {"two puppies": people | things}
    shown: dict[str, set[Rect | None]] = {}
    for gold in made(Stage.QUALITY):
        if gold.kind == "wrong thing":
            shown.setdefault(words(gold)[0], set()).add(gold.shown.candidate)
    assert {"A girl", "a red ball", "two puppies"} <= set(shown)
    assert all(shown[phrase] <= foreign[phrase] for phrase in shown)


def test_coverage_with_all_and_without_one() -> None:
    golds = made(Stage.COVERAGE)
    assert {(words(g)[0], g.shown.boxes) for g in golds if g.answer == "no"} == {
        ("two puppies", (DOG,)),
        ("two puppies", (PUPPY,)),
        ("The crowd", (MAN,)),
        ("The crowd", (GIRL,)),
    }
    assert {(words(g)[0], g.shown.boxes) for g in golds if g.answer == "yes"} == {
        ("A tall person", (MAN,)),
        ("A girl", (GIRL,)),
        ("two puppies", (DOG, PUPPY)),
        ("a red ball", (BALL,)),
        ("The crowd", (MAN, GIRL)),
    }


def test_things_that_overlap_by_just_three_tenths_are_still_apart() -> None:
    first, second = Rect(1, 1, 130, 200), Rect(71, 1, 200, 200)
    assert iou(first, second) == APART_IOU
    released = park()
    boxes = [box for box in released.boxes if box.chains != (3,)]
    boxes += [ReleasedBox(chains=(3,), rect=rect) for rect in (first, second)]
    annotation = annotation_of(replace(released, boxes=tuple(boxes)))
    known = known_annotation("park", park_state(), annotation)
    missing = {g.shown.boxes for g in made(Stage.COVERAGE, known) if words(g)[0] == "two puppies"}
    assert {(first,), (second,)} <= missing


def test_a_small_thing_may_be_overlooked() -> None:
    known = known_park()
    dogs = next(chain for chain in known.chains if DOG in chain.rects)
    small = replace(dogs, rects=(DOG, Rect(300, 210, 325, 225)))
    golds = made(Stage.COVERAGE, replace(known, chains=(small,)))
    assert {g.shown.boxes for g in golds if g.answer == "no"} == {(Rect(300, 210, 325, 225),)}


def _rect(xs: tuple[int, int], ys: tuple[int, int]) -> Rect:
    return Rect(min(xs), min(ys), max(xs), max(ys))


across, down = st.integers(1, 300), st.integers(1, 200)
rects = st.builds(_rect, st.tuples(across, across), st.tuples(down, down))


@given(st.lists(rects, min_size=1, max_size=4), st.lists(rects, max_size=3), st.integers())
def test_bad_boxes_are_surely_bad(own: list[Rect], foreign: list[Rect], seed: int) -> None:
    for bad in bad_boxes(own, foreign, 300, 200, Random(seed)):
        assert 1 <= bad.rect.xmin <= bad.rect.xmax <= 300
        assert 1 <= bad.rect.ymin <= bad.rect.ymax <= 200
        assert min(bad.rect.width, bad.rect.height) >= 10
        assert all(iou(bad.rect, good) <= BAD_IOU for good in own if good not in bad.others)
        if bad.kind == "already covered":
            assert iou(bad.rect, bad.others[0]) >= SAME_IOU
        else:
            # Red boxes are other things: the blue one is not bad for being round one of them.
            assert all(iou(bad.rect, other) <= BAD_IOU for other in bad.others)


# What is sure


def linked_men() -> Session:
    session = Session("[people A man] walks .", "[people The man] waits .")
    session.say("links/2-1/1", "yes", worker=1)
    session.say("verification/1/1", "true", worker=2)
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "yes", worker=4)
    return session


def test_chains_on_which_all_agree() -> None:
    session = linked_men()
    assert unanimous_chains(session.state) == {1}
    known = known_image("men", session.state, {1}, GoldSource.UNANIMOUS)
    gold = make_gold(known, Stage.VERIFICATION, SETTINGS, "s")
    assert [(g.answer, g.workers, g.source) for g in gold] == [
        ("true", (1, 2, 3, 4), GoldSource.UNANIMOUS)
    ]


def test_one_persons_word_is_not_unanimous() -> None:
    session = Session("[people A man] walks .", "[people The man] waits .")
    session.say("links/2-1/1", "yes", worker=1)
    session.say("verification/1/1", "true", worker=1)
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    assert unanimous_chains(session.state) == set()  # not settled
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "yes", worker=4)
    # Settled, but worker 1 alone holds that the phrases are one.
    assert unanimous_chains(session.state) == set()


def test_a_dissenting_vote_is_not_unanimous() -> None:
    session = Session("[people A man] .")
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "no", worker=4)
    session.say("coverage/1/2", "yes", worker=5)
    assert unanimous_chains(session.state) == set()
    assert unanimous_chains(finished_man().state) == {1}


def test_no_box_by_equal_votes_only() -> None:
    same, mixed = one_ball(), one_ball()
    same.say("requirement/1/1", "scene", "scene")
    mixed.say("requirement/1/1", "scene", "nobox")
    assert unanimous_chains(same.state) == {1}
    assert unanimous_chains(mixed.state) == set()
    known = known_image("ball", same.state, {1}, GoldSource.UNANIMOUS)
    assert [g.answer for g in make_gold(known, Stage.REQUIREMENT, SETTINGS, "s")] == ["scene"]


def test_what_is_doubted_is_not_sure() -> None:
    session = finished_man()
    session.doubt(3)  # a vote for completeness, without which it does not stand
    assert unanimous_chains(session.state) == set()


def test_a_cut_phrase_and_an_odd_caption_are_left_out() -> None:
    session = linked_men()
    session.say_late("links/2-1/1", "yes", worker=9)
    state = session.state
    assert len(known_image("men", state, {1}, GoldSource.UNANIMOUS).chains[0].mentions) == 2
    flagged = Session("[people A man] walks .", "[people The man] waits .")
    flagged.say("links/2-1/1", "yes", unrelated=(2,))
    chain = find_chain(flagged.state, 1)
    assert chain is not None
    known = known_image("men", flagged.state, {1}, GoldSource.REVIEWED)
    assert [m.number for m in known.chains[0].mentions] == [1]


def test_reviewed_and_imported_chains() -> None:
    session = one_ball()
    session.apply(NoBox(reviewer=REVIEWER, chain=1, scene=True, nobndbox=False))
    assert reviewed_chains(session.state) == {1}
    assert imported_chains(session.state) == set()
    session.undo(1)
    assert reviewed_chains(session.state) == set()
    assert reviewed_chains(finished_man().state) == set()


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
