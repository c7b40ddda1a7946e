"""The questions that workers can be asked, and the possible answers."""

from enum import StrEnum

import msgspec


class Stage(StrEnum):
    """The six crowd tasks, in the order of the protocol."""

    LINKS = "links"
    VERIFICATION = "verification"
    REQUIREMENT = "requirement"
    DRAWING = "drawing"
    QUALITY = "quality"
    COVERAGE = "coverage"


# Answers, in the words of the task pages.
YES, NO = "yes", "no"
TRUE, FALSE = "true", "false"
BOX, SCENE, NOBOX = "box", "scene", "nobox"
NONE_NEEDED = "none"
GOOD, BAD = "good", "bad"


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stage, its subject and its round.

    The stage's spec says whether `subject` is two mentions, a chain or a box.
    One round is one tally: all its judgments are answers to the same question.
    `doubted` is the number of the judgment that this question is a second opinion on, or 0.
    """

    stage: Stage
    subject: tuple[int, ...]
    round: int = 1
    doubted: int = 0

    @property
    def key(self) -> str:
        """Return the question's name within its image, as `coverage/7/2` or `links/12-5/1?41`."""
        subject = "-".join(str(part) for part in self.subject)
        second_opinion = f"?{self.doubted}" if self.doubted else ""
        return f"{self.stage.value}/{subject}/{self.round}{second_opinion}"


def question_from_key(key: str) -> Question:
    """Read `Question.key` back; ValueError if the text is not a key.

    >>> question_from_key("links/12-5/1?41").subject
    (12, 5)
    """
    try:
        stage, subject, rest = key.split("/")
        round_, _, doubted = rest.partition("?")
        return Question(
            stage=Stage(stage),
            subject=tuple(int(part) for part in subject.split("-")),
            round=int(round_),
            doubted=int(doubted or 0),
        )
    except ValueError:
        raise ValueError(f"{key!r} is not a question; one reads like 'coverage/7/2'") from None
