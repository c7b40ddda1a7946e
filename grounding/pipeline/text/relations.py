"""Relations between the phrases of a sentence: (entity₁, rel, entity₂), as section 3.1 makes them.

"a dog in a field barking at a cat" has the phrases "a dog", "a field" and "a cat", and the
relations (a dog, in, a field), (a dog, barking at, a cat) and, for its verb, (a dog, barking).

This module holds what every finder shares. `relations_parsed.py` finds relations in a dependency
parse, `relations_chunked.py` by patterns between phrases when no parser is installed, and
`relation_finders.py` chooses between the two.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from annotation.pipeline.release.folder import Sentence

Tokens = tuple[str, ...]
# Phrases of these types act: a verb after one is its own, not that of a phrase further left.
ACTORS = frozenset({"people", "animals"})


class Relation(NamedTuple):
    """`subject` and `object` number the sentence's phrases from 0; `words` number its tokens.

    Without an object it is a subject and its verb. `joined` are further subjects: in "young men and
    women sit" both sit. The paper takes all nouns left of the relation as its first entity, so they
    make one phrase, and its region encloses all of them.
    """

    subject: int
    words: tuple[int, ...]
    object: int | None
    joined: tuple[int, ...] = ()

    @property
    def phrases(self) -> tuple[int, ...]:
        """The phrases that it names, in order."""
        last = () if self.object is None else (self.object,)
        return (self.subject, *self.joined, *last)


RelationFinder = Callable[[Sentence], list[Relation]]


def relation_tokens(sentence: Sentence, relation: Relation) -> Tokens:
    """Return the phrase that a relation adds: subject, relation, object.

    >>> from annotation.pipeline.release.folder import parse_sentence
    >>> text = "[/EN#1/animals a dog] in [/EN#2/scene a field] barking at [/EN#3/animals a cat]"
    >>> relation_tokens(parse_sentence(text), Relation(0, (5, 6), 2))
    ('a', 'dog', 'barking', 'at', 'a', 'cat')
    """
    tokens = phrase_tokens(sentence, relation.subject)
    for number in relation.joined:
        before = sentence.tokens[sentence.phrases[number].start - 1]
        # "and"; in "a man, a woman and a dog" the woman has only a comma.
        tokens += (before,) if before.isalpha() else ()
        tokens += phrase_tokens(sentence, number)
    tokens += tuple(sentence.tokens[position] for position in relation.words)
    if relation.object is not None:
        tokens += phrase_tokens(sentence, relation.object)
    return tokens


def phrase_tokens(sentence: Sentence, number: int) -> Tokens:
    phrase = sentence.phrases[number]
    return sentence.tokens[phrase.start : phrase.end]


def acting(sentence: Sentence, phrase: int, belongs_to: Mapping[int, int]) -> int:
    """Return the phrase that is the subject of a verb after `phrase`: this one, or its owner.

    The paper climbs the parse tree and takes the nouns of the left child: in "a dog in a field
    barking", all of "a dog in a field" is left of the verb, and its noun is the dog. `belongs_to`
    maps an object to the phrase it depends on (the field to the dog). The climb ends at
    a person or an animal: in "a man next to a woman holding a baby" the woman holds the baby.
    """
    seen = {phrase}
    while not ACTORS.intersection(sentence.phrases[phrase].types):
        above = belongs_to.get(phrase)
        if above is None or above in seen:
            break
        phrase = above
        seen.add(phrase)
    return phrase


def unique(relations: list[Relation]) -> list[Relation]:
    """Return each relation once, in order, without relations of a phrase with itself."""
    return [r for r in dict.fromkeys(relations) if len(set(r.phrases)) == len(r.phrases)]
