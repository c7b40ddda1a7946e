"""The paper's worked example, by the parser and by the grammar; pairs, union boxes, resampling."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.geometry import Rect as Corners
from annotation.pipeline.release.folder import ReleasedBox, ReleasedImage, Sentence, parse_sentence
from grounding.pipeline.boxes import Rect
from grounding.pipeline.text import relations_parsed
from grounding.pipeline.text.pairs import (
    RegionPhrase,
    mention_pairs,
    relation_pairs,
    resample,
    sentence_phrases,
)
from grounding.pipeline.text.relation_finders import relation_finder
from grounding.pipeline.text.relations import (
    Relation,
    RelationFinder,
    relation_tokens,
)
from grounding.pipeline.vision.regions import gold_regions
from tests.unit.release.releases import sentences

EXAMPLE = "[/EN#1/animals a dog] in [/EN#2/scene a field] barking at [/EN#3/animals a cat]"


@pytest.fixture(scope="module", params=["parser", "grammar"])
def find(request: pytest.FixtureRequest) -> RelationFinder:
    if request.param == "parser" and not relations_parsed.is_installed():
        pytest.skip("the parser is not installed (the extra `parser`)")
    return relation_finder(request.param)


def phrases(find: RelationFinder, text: str) -> list[str]:
    sentence = parse_sentence(text)
    return [" ".join(relation_tokens(sentence, relation)) for relation in find(sentence)]


def test_the_example_of_the_paper(find: RelationFinder) -> None:
    assert sorted(phrases(find, EXAMPLE)) == [
        "a dog barking",
        "a dog barking at a cat",
        "a dog in a field",
    ]


SENTENCES = {
    "[/EN#1/people A man] in [/EN#2/clothing a shirt] is standing on [/EN#3/other a ladder] .": [
        "A man in a shirt",
        "A man is standing",
        "A man is standing on a ladder",
    ],
    "[/EN#1/people A woman] sits on [/EN#2/other a bench] and reads [/EN#3/other a newspaper] .": [
        "A woman reads",
        "A woman reads a newspaper",
        "A woman sits",
        "A woman sits on a bench",
    ],
    "[/EN#1/people A man] looks at [/EN#2/people a child] who is eating [/EN#3/other an apple] .": [
        "A man looks",
        "A man looks at a child",
        "a child is eating",
        "a child is eating an apple",
    ],
    "[/EN#1/people A man] next to [/EN#2/people a woman] holding [/EN#3/people a baby] .": [
        "A man next to a woman",
        "a woman holding",
        "a woman holding a baby",
    ],
    "[/EN#1/people Two men] and [/EN#2/people a boy] .": [],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_captions_as_people_write_them(find: RelationFinder, text: str) -> None:
    assert sorted(phrases(find, text)) == SENTENCES[text]


PARSED = {
    "[/EN#1/people Young men] and [/EN#2/people women] sit on [/EN#3/other a bench] .": [
        "Young men and women sit",
        "Young men and women sit on a bench",
    ],
    "[/EN#1/people A man] and [/EN#2/people a woman] are walking down [/EN#3/scene the street] .": [
        "A man and a woman are walking",
        "A man and a woman are walking down the street",
    ],
    "[/EN#1/animals Two dogs] and [/EN#2/animals a cat] chase [/EN#3/other a ball] .": [
        "Two dogs and a cat chase",
        "Two dogs and a cat chase a ball",
    ],
    "[/EN#1/people A woman] and [/EN#2/people a man] twirling in [/EN#3/other a dance] .": [
        "A woman and a man twirling",
        "A woman and a man twirling in a dance",
    ],
    # Jeans do not walk.
    "[/EN#1/people A woman] in [/EN#2/clothing a coat] and [/EN#3/clothing jeans] walking .": [
        "A woman in a coat",
        "A woman in jeans",
        "A woman walking",
    ],
    # Nothing that the bikers do: "is" has a subject of its own, which is nothing to be seen.
    "There is [/EN#1/other a race] during [/EN#2/other 2012] , [/EN#3/people the bikers] are on "
    "[/EN#4/other the left] .": [
        "a race during 2012",
        "the bikers are on the left",
    ],
}


@pytest.mark.parametrize("text", PARSED)
def test_joint_subjects_and_verbs_that_borrow_none(text: str) -> None:
    if not relations_parsed.is_installed():
        pytest.skip("the parser is not installed (the extra `parser`)")
    assert sorted(phrases(relation_finder("parser"), text)) == PARSED[text]


def test_the_region_of_a_joint_subject_goes_round_all_of_it() -> None:
    text = "[/EN#1/people Young men] and [/EN#2/people women] sit ."
    boxes = (
        ReleasedBox((1,), Corners(10, 20, 50, 60)),
        ReleasedBox((2,), Corners(200, 100, 260, 180)),
    )
    image = ReleasedImage("1", "1.jpg", 500, 400, 3, (parse_sentence(text),), boxes, ())
    sits = Relation(0, (4,), None, joined=(1,))
    assert relation_pairs(image, lambda _: [sits]) == [
        RegionPhrase("1", Rect(10, 20, 260, 180), ("Young", "men", "and", "women", "sit"))
    ]
    unboxed = ReleasedImage("1", "1.jpg", 500, 400, 3, (parse_sentence(text),), boxes[:1], ())
    assert relation_pairs(unboxed, lambda _: [sits]) == [], "nobody knows where the women are"


@settings(max_examples=60, deadline=None)
@given(sentence=sentences())
def test_the_grammar_takes_any_sentence(sentence: Sentence) -> None:
    for relation in relation_finder("grammar")(sentence):
        assert relation.subject != relation.object
        phrase = sentence.phrases[relation.subject]
        inside = set(range(phrase.start, phrase.end))
        assert relation.words
        assert not inside.intersection(relation.words)


def test_the_grammar_ends_a_last_clause_at_its_first_sign() -> None:
    text = "[/EN#1/people A man] is sitting , reading and waiting ."
    assert phrases(relation_finder("grammar"), text) == ["A man is sitting"]


def test_odd_sentences_have_no_relations(find: RelationFinder) -> None:
    odd = ((), (".",), ("and",), ("dog", "dog"), ("of", "of", "of"), ("#", "/EN#1/", "-LRB-"))
    for tokens in odd:
        assert find(Sentence(tokens, ())) == []


def test_there_is_no_third_way() -> None:
    with pytest.raises(ValueError, match="choose parser or grammar"):
        relation_finder("guess")


def example_image() -> ReleasedImage:
    """The example with boxes: two dogs in one mention, a cat, and no box of the field."""
    boxes = (
        ReleasedBox((1,), Corners(10, 20, 50, 60)),
        ReleasedBox((1,), Corners(40, 10, 90, 55)),
        ReleasedBox((3,), Corners(200, 100, 260, 180)),
    )
    return ReleasedImage("1", "1.jpg", 500, 400, 3, (parse_sentence(EXAMPLE),), boxes, ())


def test_mentions_are_paired_with_the_box_round_their_boxes() -> None:
    assert mention_pairs(example_image()) == [
        RegionPhrase("1", Rect(10, 10, 90, 60), ("a", "dog")),
        RegionPhrase("1", Rect(200, 100, 260, 180), ("a", "cat")),
    ]


def test_relations_are_paired_with_the_box_round_both(find: RelationFinder) -> None:
    """The field has no box, so the region of "a dog in a field" is unknown."""
    pairs = {pair.phrase: pair.box for pair in relation_pairs(example_image(), find)}
    assert pairs == {
        "a dog barking": Rect(10, 10, 90, 60),
        "a dog barking at a cat": Rect(10, 10, 260, 180),
    }


def test_the_regions_of_all_pairs_are_listed(find: RelationFinder) -> None:
    """Otherwise no feature of them would ever be made."""
    image = example_image()
    assert gold_regions(image)[3:] == [Rect(10, 10, 90, 60)]
    assert gold_regions(image, find)[3:] == [Rect(10, 10, 90, 60), Rect(10, 10, 260, 180)]
    pairs = [*mention_pairs(image), *relation_pairs(image, find)]
    assert {pair.box for pair in pairs} <= set(gold_regions(image, find))


def test_a_sentence_without_mention_is_its_own_phrase() -> None:
    assert sentence_phrases(parse_sentence(EXAMPLE))[0] == ("a", "dog")
    assert sentence_phrases(parse_sentence("It rains .")) == [("It", "rains", ".")]


pair_lists = st.lists(
    st.tuples(st.sampled_from(["a man", "A man", "a dog", "grass"]), st.integers(1, 50)),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(drawn=pair_lists, most=st.integers(1, 5), seed=st.integers(0, 100))
def test_resampling_keeps_at_most_so_many_of_each_phrase(
    drawn: list[tuple[str, int]], most: int, seed: int
) -> None:
    # Of two images, so that a phrase often has the same region twice.
    pairs = [
        RegionPhrase(f"{size % 2}", Rect(1, 1, size, size), tuple(phrase.split()))
        for phrase, size in drawn
    ]
    kept = resample(pairs, most, seed=seed)
    before, after = (
        Counter(phrase for _, _, phrase in {(pair.image, pair.box, pair.phrase) for pair in some})
        for some in (pairs, kept)
    )
    assert after == Counter({phrase: min(count, most) for phrase, count in before.items()})
    assert len(kept) == after.total(), "no region twice for one phrase"
    places = [pairs.index(pair) for pair in kept]
    assert places == sorted(places)
    assert resample(pairs, most, seed=seed) == kept


def test_resampling_is_random_and_fair() -> None:
    pairs = [RegionPhrase(f"{n}", Rect(1, 1, 2, 2), ("a", "man")) for n in range(10)]
    drawn = Counter(resample(pairs, 1, seed=seed)[0].image for seed in range(500))
    assert set(drawn) == {pair.image for pair in pairs}
    assert max(drawn.values()) < 100
    with pytest.raises(ValueError, match="leaves none"):
        resample(pairs, 0, seed=0)
