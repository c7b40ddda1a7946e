"""Small images for tests of the protocol, and a session that folds facts and keeps them."""

import re

from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import apply, begin, counts, open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import Body, Doubt, Fact, Judgment, Undo
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import Chain, ImageState, find_chain

WIDTH, HEIGHT = 100, 80
RECT = Rect(10, 10, 40, 40)
REVIEWER = 900

_PHRASE = re.compile(r"\[(\S+) ([^\]]+)\]|(\S+)")


def read_captions(*lines: str) -> tuple[tuple[Caption, ...], tuple[Mention, ...]]:
    """Read captions such as `[people A man] in [clothing a hat]`; types are divided by `/`."""
    captions: list[Caption] = []
    mentions: list[Mention] = []
    for number, line in enumerate(lines, start=1):
        tokens: list[str] = []
        for types, phrase, word in _PHRASE.findall(line):
            start = len(tokens)
            tokens += phrase.split() if phrase else [word]
            if phrase:
                mentions.append(
                    Mention(
                        number=len(mentions) + 1,
                        caption=number,
                        start=start,
                        end=len(tokens),
                        types=tuple(types.split("/")),
                    )
                )
        captions.append(Caption(number=number, tokens=tuple(tokens)))
    return tuple(captions), tuple(mentions)


def image(*lines: str, settings: Settings | None = None) -> ImageState:
    captions, mentions = read_captions(*lines)
    return begin(captions, mentions, width=WIDTH, height=HEIGHT, settings=settings or Settings())


class Session:
    """An image, the facts it has had and the settings that the next one is made under."""

    def __init__(self, *lines: str, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.start = image(*lines, settings=self.settings)
        self.state = self.start
        self.facts: list[Fact] = []

    def apply(self, body: Body) -> int:
        """Add a fact and return its number; nothing is kept of one that is refused."""
        fact = Fact(number=self.state.facts + 1, settings=self.settings, body=body)
        self.state = apply(self.state, fact)
        self.facts.append(fact)
        return fact.number

    def say(
        self,
        key: str,
        *answers: str,
        worker: int = 0,
        rect: Rect = RECT,
        cut_wrongly: tuple[int, ...] = (),
        unrelated: tuple[int, ...] = (),
    ) -> int:
        """Answer an open question, each time by a worker who never was here, or by `worker`.

        Returns the number of the last fact. A session's own workers are 101, 102, …, by fact.
        """
        number = 0
        for answer in answers:
            judgment = self.judgment(key, answer, worker=worker, rect=rect)
            assert counts(self.state, judgment), f"{key} is not open: {self.open}"
            judgment = Judgment(
                worker=judgment.worker,
                question=judgment.question,
                answer=answer,
                rect=judgment.rect,
                cut_wrongly=cut_wrongly,
                unrelated=unrelated,
            )
            number = self.apply(judgment)
        return number

    def say_late(self, key: str, answer: str, *, worker: int = 0) -> int:
        """Give an answer that does not count."""
        judgment = self.judgment(key, answer, worker=worker)
        assert not counts(self.state, judgment)
        return self.apply(judgment)

    def judgment(self, key: str, answer: str, *, worker: int = 0, rect: Rect = RECT) -> Judgment:
        question = question_from_key(key)
        draws = question.stage.value == "drawing" and answer == "box"
        return Judgment(
            worker=worker or 101 + self.state.facts,
            question=question,
            answer=answer,
            rect=rect if draws else None,
        )

    def doubt(self, judgment: int) -> int:
        return self.apply(Doubt(judgment=judgment))

    def undo(self, decision: int) -> int:
        return self.apply(Undo(reviewer=REVIEWER, decision=decision))

    @property
    def open(self) -> list[str]:
        return [question.key for question in open_questions(self.state)]

    def chain(self, number: int) -> Chain:
        chain = find_chain(self.state, number)
        assert chain is not None
        return chain

    @property
    def partition(self) -> list[tuple[int, ...]]:
        return sorted(chain.mentions for chain in self.state.chains)


def one_ball(settings: Settings | None = None) -> Session:
    """Return an image with one chain, 1, that begins in Requirement."""
    return Session("[other A red ball] .", settings=settings)


def one_man(settings: Settings | None = None) -> Session:
    """Return an image with one chain, 1, that begins in Drawing."""
    return Session("[people A man] .", settings=settings)


def boxed_man(settings: Settings | None = None) -> Session:
    """Return an image with one chain, 1, that has box 1 and begins in Coverage, round 2."""
    session = one_man(settings)
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "good", worker=2)
    return session


def finished_man(settings: Settings | None = None) -> Session:
    session = boxed_man(settings)
    session.say("coverage/1/2", "yes", worker=3)
    session.say("coverage/1/2", "yes", worker=4)
    return session
