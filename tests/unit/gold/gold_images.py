"""Images with their gold, drawn at random, and people who guess."""

from random import Random

from hypothesis import strategies as st

from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import apply, begin, open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    Fact,
    ImportedBox,
    ImportedChain,
    Judgment,
)
from annotation.pipeline.protocol.questions import BOX, Question, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import ImageState
from tests.unit.protocol.images import HEIGHT, WIDTH


@st.composite
def gold_images(draw: st.DrawFn) -> tuple[ImageState, AcceptedImport]:
    """Draw an image and its gold: chains of at most one mention a caption."""
    captions: list[Caption] = []
    mentions: list[Mention] = []
    owners: list[int] = []
    things = draw(
        st.lists(
            st.sampled_from([("people",), ("other",), ("people", "other"), ("scene",)]),
            min_size=1,
            max_size=3,
        )
    )
    for number in range(1, draw(st.integers(2, 4)) + 1):
        named = draw(st.lists(st.integers(0, len(things) - 1), max_size=3, unique=True))
        tokens = [word for thing in named for word in ("the", f"thing{thing}")]
        for place, thing in enumerate(named):
            types = draw(st.sampled_from([things[thing], things[thing][:1]]))
            mentions.append(Mention(len(mentions) + 1, number, 2 * place, 2 * place + 2, types))
            owners.append(thing)
        captions.append(Caption(number, (*tokens, ".")))
    chains: list[ImportedChain] = []
    boxes: list[ImportedBox] = []
    for thing in sorted(set(owners)):
        members = [n for n, owner in enumerate(owners, start=1) if owner == thing]
        count = draw(st.integers(0, 2))
        chains.append(ImportedChain(tuple(members), scene=not count, nobndbox=False))
        for place in range(count):
            left = 1 + 40 * place + 3 * thing
            boxes.append(ImportedBox((len(chains),), Rect(left, 5 + thing, left + 20, 40)))
    state = begin(captions, mentions, width=WIDTH, height=HEIGHT, settings=Settings())
    return state, AcceptedImport(tuple(chains), tuple(boxes))


def guess(question: Question, random: Random) -> tuple[str, Rect | None]:
    answer = random.choice(spec_of(question.stage).answers)
    draws = question.stage is Stage.DRAWING and answer == BOX
    return answer, Rect(
        1, 1, random.randint(1, WIDTH), random.randint(1, HEIGHT)
    ) if draws else None


def guess_to_the_end(state: ImageState, seed: int, most: int = 3000) -> ImageState:
    """Let people who have not looked answer all that is open, until nothing is, or `most`."""
    random = Random(seed)
    while questions := open_questions(state):
        for question in questions:
            if state.facts >= most:
                return state
            answer, rect = guess(question, random)
            judgment = Judgment(100 + state.facts, question, answer, rect)
            state = apply(state, Fact(state.facts + 1, Settings(), judgment))
        assert state.facts < 3000
    return state
