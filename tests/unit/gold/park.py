"""A photo of a park whose chains and boxes are all known, and the gold questions made of it."""

from msgspec.structs import replace

from annotation.pipeline.corpus.corpus_image import annotation_of
from annotation.pipeline.geometry import Rect
from annotation.pipeline.gold.gold_question import (
    Gold,
)
from annotation.pipeline.gold.known_images import (
    KnownImage,
    known_annotation,
)
from annotation.pipeline.gold.maker import make_gold
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.release.folder import (
    ReleasedBox,
    ReleasedImage,
    UnboxedChain,
    parse_sentence,
)
from tests.unit.protocol.images import Session, image, read_captions

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


def linked_men() -> Session:
    session = Session("[people A man] walks .", "[people The man] waits .")
    session.say("links/2-1/1", "yes", worker=1)
    session.say("verification/1/1", "true", worker=2)
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "yes", worker=4)
    return session
