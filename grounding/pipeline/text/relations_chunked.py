"""Relations by patterns between phrases, used if no parser is installed.

The phrases of a release are noun phrases. The words between two of them are nearly always a
preposition ("in"), or a verb with its auxiliaries, adverbs and prepositions ("is barking at"). A
list of prepositions and other function words is enough to distinguish the two.
"""

from annotation.pipeline.release.folder import Sentence
from grounding.pipeline.text.relations import Relation, acting, unique

_PREPOSITIONS = """
    aboard about above across after against along alongside amid amidst among amongst around as at
    atop away back before behind below beneath beside besides between beyond by down during for
    from front in inside into like near next of off on onto opposite out outside over past than
    through throughout to top toward towards under underneath up upon via with within without
"""
# Neither prepositions nor verbs: these words alone between two phrases make no relation.
_OTHERS = """
    a an the not n't also just very all both each there here together ahead nearby apart alone
    him her it them his their its himself herself themselves itself other one another it's 's
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
OTHERS = frozenset(_OTHERS.split())
AUXILIARIES = frozenset(
    {"am", "are", "be", "been", "being", "is", "was", "were"}
    | {"has", "have", "having", "had", "do", "does", "did"}
)
JOINING = frozenset({"and", "but", "or", "while", "as", "because", "when", "where", "so", "then"})
RELATIVE = frozenset({"who", "which", "that", "whose"})
_SMALL = PREPOSITIONS | AUXILIARIES | JOINING | RELATIVE | OTHERS


def find_relations(sentence: Sentence) -> list[Relation]:
    """Return the sentence's relations, in order of their words."""
    relations: list[Relation] = []
    # The phrase that each phrase depends on, by a preposition or as the object of a verb.
    belongs_to: dict[int, int] = {}
    phrases = sentence.phrases
    for number, phrase in enumerate(phrases):
        last = number + 1 == len(phrases)
        end = len(sentence.tokens) if last else phrases[number + 1].start
        positions, broken = _last_part(sentence, phrase.end, end)
        following = None if last else number + 1
        words = [sentence.tokens[position].lower() for position in positions]
        if not words:
            continue
        joined = broken or words[0] in JOINING
        relative = words[0] in RELATIVE
        first = next((n for n, word in enumerate(words) if _starts(word)), len(words))
        positions, words = positions[first:], words[first:]
        verb = _last_verb(words)
        if verb is None:
            if following is not None and words and not joined and _is_prepositional(words):
                belongs_to[following] = number
                relations.append(Relation(number, tuple(positions), following))
            continue
        if relative:
            subject = number
        elif joined:
            subject = _topmost(number, belongs_to)
        else:
            subject = acting(sentence, number, belongs_to)
        relations.append(Relation(subject, tuple(positions[: verb + 1]), None))
        if following is not None and not (words[-1] in JOINING or words[-1] in RELATIVE):
            belongs_to[following] = subject
            relations.append(Relation(subject, tuple(positions), following))
    return unique(relations)


def _last_part(sentence: Sentence, start: int, end: int) -> tuple[list[int], bool]:
    """Return the positions after the last punctuation between two phrases, and whether it exists.

    After the last phrase, return those before the first punctuation, usually the full stop.
    """
    positions = list(range(start, end))
    signs = [p for p in positions if not any(c.isalnum() for c in sentence.tokens[p])]
    if not signs:
        return positions, False
    if end == len(sentence.tokens):
        return [p for p in positions if p < signs[0]], False
    return [p for p in positions if p > signs[-1]], True


def _starts(word: str) -> bool:
    """Return whether a relation may begin with `word`: not with an adverb or a conjunction."""
    return word not in JOINING | RELATIVE | OTHERS and not word.endswith("ly")


def _is_verb(word: str) -> bool:
    return word not in _SMALL and not word.endswith("ly") and word.isalpha()


def _last_verb(words: list[str]) -> int | None:
    return next((n for n in reversed(range(len(words))) if _is_verb(words[n])), None)


def _is_prepositional(words: list[str]) -> bool:
    return words[-1] in PREPOSITIONS and all(word in PREPOSITIONS | OTHERS for word in words)


def _topmost(phrase: int, above: dict[int, int]) -> int:
    """Return the phrase that all depends on: in "a man sits on a bench and reads", the man."""
    while phrase in above:
        phrase = above[phrase]
    return phrase
