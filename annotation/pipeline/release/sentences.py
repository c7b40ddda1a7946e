"""The lines of a `Sentences/` file: plain words and `[/EN#<chain id>/<type>[/<type>…] <words>]`."""

import re
from functools import lru_cache

from annotation.pipeline.mentions.mention import ENTITY_TYPES, NOT_VISUAL
from annotation.pipeline.release.model import (
    LARGEST_NUMBER,
    NUMBER,
    Phrase,
    ReleaseError,
    Sentence,
    shorten,
)

_OPENING = re.compile(rf"\[/EN#({NUMBER})/([^/]+(?:/[^/]+)*)")


def parse_sentence(line: str) -> Sentence:
    """Read one caption with its bracketed phrases.

    >>> parse_sentence("[/EN#3/people A man] sits .").phrases
    (Phrase(start=0, end=2, types=('people',), chain=3),)
    """
    words = line.split(" ")
    if words != line.split():
        raise ReleaseError(_spacing_problem(line))
    tokens: list[str] = []
    phrases: list[Phrase] = []
    opening: str | None = None
    start = chain = 0
    types: tuple[str, ...] = ()
    for word in words:
        if "[" not in word and "]" not in word:
            tokens.append(word)
        elif word[0] == "[":
            if opening is not None:
                raise ReleaseError(
                    f"{shorten(word)} opens a phrase inside {shorten(opening)}, "
                    "which is not closed yet"
                )
            match = _OPENING.fullmatch(word)
            if match is None or "[" in word[1:] or "]" in word:
                raise ReleaseError(_opening_problem(word))
            opening, start = word, len(tokens)
            chain, types = int(match[1]), _parse_types(match[2])
            _check_chain(chain, types)
        else:
            if "[" in word or "]" in word[:-1]:
                raise ReleaseError(f"{shorten(word)} contains a bracket inside a word")
            if opening is None:
                raise ReleaseError(f"{shorten(word)} closes a phrase that was never opened")
            if word == "]":
                empty = len(tokens) == start
                raise ReleaseError(
                    f"the phrase {shorten(opening)} "
                    + ("has no words" if empty else "has a space before its closing bracket")
                )
            tokens.append(word[:-1])
            phrases.append(Phrase(start, len(tokens), types, chain))
            opening = None
    if opening is not None:
        raise ReleaseError(f"the phrase {shorten(opening)} is never closed")
    return Sentence(tuple(tokens), tuple(phrases))


def format_sentence(sentence: Sentence) -> str:
    """Write one caption as its line, without the line's end."""
    if not sentence.tokens:
        raise ReleaseError("the caption is empty")
    for token in sentence.tokens:
        _check_token(token)
    words = list(sentence.tokens)
    position = 0
    for phrase in sentence.phrases:
        if not position <= phrase.start < phrase.end <= len(words):
            raise ReleaseError(
                f"the phrase of words {phrase.start} to {phrase.end} is empty, overlaps the one "
                f"before it or leaves the caption of {len(words)} words"
            )
        _check_types(phrase.types)
        _check_chain(phrase.chain, phrase.types)
        mark = f"[/EN#{phrase.chain}/{'/'.join(phrase.types)}"
        words[phrase.start] = f"{mark} {words[phrase.start]}"
        words[phrase.end - 1] += "]"
        position = phrase.end
    return " ".join(words)


@lru_cache(maxsize=1024)
def _parse_types(text: str) -> tuple[str, ...]:
    types = tuple(text.split("/"))
    _check_types(types)
    return types


def _check_types(types: tuple[str, ...]) -> None:
    if not types:
        raise ReleaseError("the phrase has no type")
    for name in types:
        if name not in ENTITY_TYPES and name != NOT_VISUAL:
            raise ReleaseError(
                f"{shorten(name)} is not an entity type; the types are "
                f"{', '.join(ENTITY_TYPES)} and {NOT_VISUAL}"
            )
    if len(set(types)) != len(types):
        raise ReleaseError(f"{shorten('/'.join(types))} names a type twice")
    if NOT_VISUAL in types and len(types) > 1:
        raise ReleaseError(f"{shorten('/'.join(types))} is both {NOT_VISUAL} and of an entity type")


def _check_chain(chain: int, types: tuple[str, ...]) -> None:
    if not 0 <= chain <= LARGEST_NUMBER:
        raise ReleaseError(f"{chain} is not a chain id")
    if types == (NOT_VISUAL,) and chain != 0:
        raise ReleaseError(f"a {NOT_VISUAL} phrase has chain id {chain}; it must be 0")
    if types != (NOT_VISUAL,) and chain == 0:
        raise ReleaseError(
            f"a phrase of type {'/'.join(types)} has chain id 0, which is for {NOT_VISUAL} only"
        )


def _check_token(token: str) -> None:
    if not token:
        raise ReleaseError("the caption has an empty word")
    if token.split() != [token]:
        raise ReleaseError(f"the word {shorten(token)} contains white space")
    if "[" in token or "]" in token:
        raise ReleaseError(f"the word {shorten(token)} contains a bracket, which ends a phrase")
    try:
        token.encode()
    except UnicodeEncodeError:
        raise ReleaseError(f"the word {token!a} cannot be written as UTF-8") from None


def _spacing_problem(line: str) -> str:
    if not line.strip():
        return "the caption is empty"
    if line != line.strip():
        return "the caption has white space before its first or after its last word"
    if "  " in line:
        return "two words have more than one space between them"
    return "two words have white space other than one space between them"


def _opening_problem(word: str) -> str:
    if not word.startswith("[/EN#"):
        return f"{shorten(word)} opens a bracket without a phrase's mark, such as [/EN#1/people"
    if "[" in word[1:]:
        return f"{shorten(word)} contains a bracket inside a word"
    if word.endswith("]"):
        return f"the phrase {shorten(word)} has no words"
    chain, slash, types = word[len("[/EN#") :].partition("/")
    if not re.fullmatch(NUMBER, chain):
        return f"the chain id {shorten(chain)} of {shorten(word)} is not a number"
    if not slash or not types:
        return f"the phrase {shorten(word)} has no type"
    return f"the phrase {shorten(word)} has an empty type or a bracket in its mark"
