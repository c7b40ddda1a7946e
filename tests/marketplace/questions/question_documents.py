"""Documents for the tests of questions: good ones, and parts to make others from."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from marketplace.rules.errors import RequestError
from marketplace.rules.questions.schema import (
    ANSWER_KEY,
    EXTERNAL_QUESTION,
    HTML_QUESTION,
    QUESTION_FORMS,
)

FREE_TEXT = "<FreeTextAnswer/>"


@contextmanager
def refused(code: str, *words: str) -> Iterator[None]:
    """Expect a refusal with the code, and with all the words in its message."""
    with pytest.raises(RequestError) as caught:
        yield
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)


def external(url: str, height: str = "<FrameHeight>400</FrameHeight>") -> str:
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}">'
        f"<ExternalURL>{url}</ExternalURL>{height}</ExternalQuestion>"
    )


def html(content: str) -> str:
    return (
        f'<HTMLQuestion xmlns="{HTML_QUESTION}">\n  '
        f"<HTMLContent><![CDATA[{content}]]></HTMLContent>\n  "
        "<FrameHeight>0</FrameHeight></HTMLQuestion>"
    )


def form(*parts: str, namespace: str = QUESTION_FORMS[0]) -> str:
    return f'<QuestionForm xmlns="{namespace}">\n{" ".join(parts)}\n</QuestionForm>'


def question(
    answer: str = FREE_TEXT,
    *,
    name: str = "q",
    required: bool = False,
    content: str = "<Text>Why?</Text>",
) -> str:
    return (
        f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<IsRequired>{str(required).lower()}</IsRequired>"
        f"<QuestionContent>{content}</QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def choice(names: str, *, before: str = "", other: str = "") -> str:
    """A selection answer with one selection for each letter of `names`."""
    listed = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier><Text>The {name}</Text>"
        "</Selection>"
        for name in names
    )
    return f"<SelectionAnswer>{before}<Selections>{listed}{other}</Selections></SelectionAnswer>"


def key(questions: str, mapping: str = "") -> str:
    if mapping:
        mapping = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>"
    return f'<AnswerKey xmlns="{ANSWER_KEY}">{questions}{mapping}</AnswerKey>'


def key_question(name: str, *options: tuple[str, int], default: str = "") -> str:
    """A key's question with an option for each group of letters."""
    written = "".join(
        "<AnswerOption>"
        + "".join(f"<SelectionIdentifier>{letter}</SelectionIdentifier>" for letter in letters)
        + f"<AnswerScore>{score}</AnswerScore></AnswerOption>"
        for letters, score in options
    )
    return f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>{written}{default}</Question>"
