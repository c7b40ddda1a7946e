"""The state machine of the engine's unit tests, for longer."""

from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import begin, open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import (
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    FixSpan,
    Join,
    Judgment,
    NoBox,
    Retype,
    SendTo,
    Split,
    Target,
)
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState, Phase
from tests.sizes import WHOLE
from tests.unit.protocol.test_engine_machine import HEIGHT, TYPES, WIDTH, WORDS, Image

FACTS = 100
IMAGES = 1000 if WHOLE else 50


@pytest.mark.slow
def test_many_images_to_which_anything_happens() -> None:
    run_state_machine_as_test(
        Image,
        settings=settings(
            max_examples=200,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )


@pytest.mark.slow
@pytest.mark.whole
def test_a_hundred_facts_happen_to_each_of_many_images() -> None:
    """Hypothesis ends most of its runs early; here every image gets its hundred facts.

    Decisions name what the image has, so that few are refused. What fails is repeated by its seed.
    """
    taken: set[str] = set()
    for seed in range(IMAGES):
        random = Random(seed)
        machine = Image()
        machine.begin(image=_image(random))
        while len(machine.facts) < FACTS:
            try:
                _step(machine, random)
                for invariant in machine.invariants:
                    invariant.function(machine)
            except AssertionError as error:
                error.add_note(f"seed {seed}, after {len(machine.facts)} facts")
                raise
        machine.teardown()
        assert len(machine.facts) == machine.state.facts == FACTS
        taken.update(type(fact.body).__name__ for fact in machine.facts)
        taken.update(chain.phase.value for chain in machine.state.chains)
    decisions = {kind.__name__ for kind in Decision.__args__}
    assert taken >= decisions | {"Judgment", "Doubt", "Undo"} | {phase.value for phase in Phase}


def _image(random: Random) -> ImageState:
    """Return 3 to 5 captions of 1 to 3 mentions."""
    captions: list[Caption] = []
    mentions: list[Mention] = []
    for number in range(1, random.randint(3, 5) + 1):
        tokens: list[str] = []
        for _ in range(random.randint(1, 3)):
            start = len(tokens)
            tokens += random.choices(WORDS, k=random.randint(1, 2))
            types = random.choice(TYPES)
            mentions.append(Mention(len(mentions) + 1, number, start, len(tokens), types))
        captions.append(Caption(number, (*tokens, ".")))
    return begin(captions, mentions, width=WIDTH, height=HEIGHT, settings=Settings())


def _step(machine: Image, random: Random) -> None:
    """Answer mostly; now and then doubt, decide or undo."""
    which, pick, worker = random.randrange(100), random.randrange(6), random.randint(1, 5)
    dice = random.random()
    if open_questions(machine.state) and dice < 0.62:
        if dice < 0.5:
            machine.answer_afresh(which=which, pick=pick)
        elif dice < 0.6:
            machine.answer(which=which, pick=pick, worker=worker)
        else:
            cut, unrelated = [random.choice(machine.state.mentions).number], [random.randint(1, 3)]
            machine.answer_and_report(
                which=which, pick=pick, cut=cut, unrelated=unrelated[: pick % 2]
            )
    elif machine.asked and dice < 0.64:
        machine.answer_late(which=which, pick=pick, worker=worker)
    elif dice < 0.76 and any(isinstance(fact.body, Judgment) for fact in machine.facts):
        machine.doubt(which=which)
    elif dice < 0.84 and machine.state.decisions:
        # The latest can nearly always be undone, the others seldom.
        machine.undo(which=len(machine.state.decisions) - 1 if pick else which)
    elif dice < 0.86:
        limits = [random.randint(1, 3) for _ in range(5)]
        machine.change_settings(version=_settings(limits))
    else:
        machine.decide(decision=_decision(machine.state, random))


def _settings(limits: list[int]) -> Settings:
    nobox, coverage, entries, bad, unrelated = limits
    return Settings(
        version=3,
        nobox_votes=nobox,
        coverage_votes=coverage,
        entries_limit=entries + 1,
        bad_boxes_limit=bad + 1,
        unrelated_flags=unrelated,
    )


def _decision(state: ImageState, random: Random) -> Decision:
    chains = [chain.number for chain in state.chains] or [1]
    boxes = [box.number for box in state.boxes] or [1]
    chain = random.choice(chains)
    mention = random.choice(state.mentions).number
    rect = random.choice([Rect(1, 1, 20, 10), Rect(2, 2, 9, 9), Rect(5, 1, 5, 1)])
    members = next((c.mentions for c in state.chains if c.number == chain), (1,))
    own = [b.number for b in state.boxes if chain in b.chains]
    possible: list[Decision] = [
        FixSpan(1, mention, random.randint(0, 3), random.randint(1, 4)),
        Retype(1, mention, random.choice(TYPES)),
        Split(1, chain, (random.choice(members),), tuple(own[: random.randint(0, 1)])),
        Join(1, tuple(random.choices(chains, k=2))),
        BoxAdd(1, chain, rect),
        BoxAdjust(1, random.choice(boxes), rect),
        BoxDelete(1, random.choice(boxes)),
        NoBox(1, chain, random.random() < 0.5, random.random() < 0.5),
        CaptionUnrelated(1, random.randint(1, 3), random.random() < 0.5),
        SendTo(1, chain, random.choice(list(Target))),
    ]
    return random.choice(possible)
