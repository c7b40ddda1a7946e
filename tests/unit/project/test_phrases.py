"""Phrases that people stumbled over must not come back into code, pages and documents."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import ROOT

ENDINGS = ("py", "html", "ts", "tsx", "toml", "md")
EXCEPT = {"CHANGELOG.md", str(Path(__file__).resolve().relative_to(ROOT))}
# Compared without regard to case, line breaks, quotes and marks of comments.
PHRASES = (
    # From the issue that asked for plain English
    "whose it is says",
    "only who is trusted",
    "is put as it was",
    "told anew",
    "sign that is no text",
    "nothing is lacking any more",
    # What workers read
    "is not good any more",
    "does you no harm",
    "is none of the platform's",
    "that harms nobody",
    "another mistake that can no longer",
    "they have gone back, so that",
    "your appeal is with us",
    "what came of your",
    "did not say whose questions",
    "is round something other",
    "sent as soon as the site answers",
    "send it once more",
    # What researchers read
    "what is left will cost",
    "nobody is like that",
    "nobody has come yet",
    "as far as this page knows",
    "nothing like that can be done",
    "what they are to know",
    "say why: the worker is told",
    "said quality",
    "they are already",
    "phrases that leave",
    "name the same?",
    "is missing or makes no sense",
    "something is lacking",
    "whoever may only look",
)
# What may stand between two words: white space, and what a line break in code brings along.
GAP = r"""[\s"'#*/]+"""


def found(text: str, phrases: tuple[str, ...] = PHRASES) -> Iterator[tuple[int, str]]:
    """Yield the line and the phrase of every place in a text.

    >>> list(found("A **told**\\n# anew tale", ("told anew",)))
    [(1, 'told anew')]
    """
    # Looking for plain words first is what makes this quick.
    plain = re.sub(GAP, " ", text.lower())
    for phrase in phrases:
        if re.sub(GAP, " ", phrase) not in plain:
            continue
        words = GAP.join(re.escape(word) for word in phrase.split())
        for match in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE):
            yield text.count("\n", 0, match.start()) + 1, phrase


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *(f"*.{ending}" for ending in ENDINGS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("This is not a git repository.")
    names = [name for name in listed.stdout.split("\0") if name and name not in EXCEPT]
    return [name for name in names if (ROOT / name).is_file()]


def test_no_such_phrase_is_back() -> None:
    names = tracked()
    assert len(names) > 300, "the files are found"
    places = [
        f"{name}:{line}: “{phrase}”"
        for name in names
        for line, phrase in found((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert not places, "say it in plain English:\n" + "\n".join(places)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Nothing to see.\nThis is told anew later.", 2),
        ('"""A docstring in which it is told\n    Anew."""', 1),
        ('messages = (\n    "It is told "\n    "anew."\n)', 2),
        ("# It is told\n# anew.", 1),
        ("<p>It is **told** anew</p>", 1),
    ],
)
def test_a_phrase_is_found_with_its_line(text: str, line: int) -> None:
    assert list(found(text)) == [(line, "told anew")]


@pytest.mark.parametrize("text", ["We told her. Anew she came.", "untold anew", "told anewly"])
def test_other_words_are_not(text: str) -> None:
    assert list(found(text)) == []


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_can_be_found(phrase: str) -> None:
    assert (3, phrase) in list(found(f"One.\n\nAh: {phrase.capitalize()}!\n"))
