"""Finding mentions with the model and the dictionaries that come along."""

import shutil
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.captions import Caption, tokenise
from annotation.pipeline.mentions.chunker import MODEL_FILE
from annotation.pipeline.mentions.entity_types import (
    ENTITY_TYPES,
    LEFT_OUT_FILE,
    in_written_order,
    read_dictionary,
    read_entries,
    type_file,
)
from annotation.pipeline.mentions.mention import (
    MENTION_DATA,
    NOT_VISUAL,
    Chunk,
    MentionFinder,
    find_mentions,
    mention_text,
    to_brackets,
)
from annotation.pipeline.mentions.training import MentionScore, score, train
from annotation.pipeline.mentions.type_training import TypeCounts
from annotation.pipeline.release.folder import Phrase, Sentence


@cache
def shipped() -> MentionFinder:
    return MentionFinder.load()


def brackets(text: str) -> str:
    tokens = tokenise(text)
    return to_brackets(tokens, shipped().find(tokens))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man in an orange hat.", "[/EN#1/people A man] in [/EN#2/clothing an orange hat] ."),
        ("A man in blue sings.", "[/EN#1/people A man] in [/EN#2/clothing blue] sings ."),
        (
            "A dog jumps in the air.",
            "[/EN#1/animals A dog] jumps in [/EN#0/notvisual the air] .",
        ),
        (
            "A girl smiles because she has a guitar.",
            "[/EN#1/people A girl] smiles because [/EN#0/notvisual she] has "
            "[/EN#2/instruments a guitar] .",
        ),
        (
            "Two women sit on a bench.",
            "[/EN#1/people Two women] sit on [/EN#2/other a bench] .",
        ),
        (
            "A group of people wait at a train station.",
            "[/EN#1/people A group of people] wait at [/EN#2/scene a train station] .",
        ),
        ("Running.", "Running ."),
        ("", ""),
    ],
)
def test_captions_in_brackets_out(text: str, expected: str) -> None:
    assert brackets(text) == expected


@pytest.mark.parametrize(
    ("chunk", "types"),
    [
        ("he", (NOT_VISUAL,)),
        ("Them", (NOT_VISUAL,)),
        ("the background", (NOT_VISUAL,)),
        ("two of them", (NOT_VISUAL,)),
        ("the camera", (NOT_VISUAL,)),
        ("a large camera", ("other",)),
        ("black", ("clothing",)),
        ("red and white", ("clothing",)),
        ("all beige", ("clothing",)),
        ("a beige", ("other",)),
        ("a beige wall", ("other",)),
        ("and", ("other",)),
        ("A German Shepherd", ("animals", "people")),
        ("a golf course", ("scene",)),
        ("a rope course", ("other",)),
        ("his long arms", ("bodyparts",)),
        ("a boxing ring", ("clothing", "scene")),
        ("a ring", ("clothing",)),
        ("something never heard of", ("other",)),
    ],
)
def test_types_come_from_the_longest_entry_then_colour_then_other(
    chunk: str, types: tuple[str, ...]
) -> None:
    assert shipped().types(chunk.split()) == types


def test_several_types_are_written_in_the_order_of_the_public_data() -> None:
    for types in (
        ("vehicles", "scene"),
        ("people", "scene"),
        ("animals", "people"),
        ("bodyparts", "people"),
        ("clothing", "vehicles"),
        ("clothing", "people"),
    ):
        assert in_written_order(types) == in_written_order(reversed(types)) == types


def test_mentions_are_numbered_by_caption_then_token() -> None:
    captions = [
        Caption(number=1, tokens=tokenise("A man in an orange hat.")),
        Caption(number=2, tokens=tokenise("He wears a hat.")),
    ]
    mentions = find_mentions(captions, shipped())
    assert [(m.number, m.caption, mention_text(m, captions)) for m in mentions] == [
        (1, 1, "A man"),
        (2, 1, "an orange hat"),
        (3, 2, "He"),
        (4, 2, "a hat"),
    ]
    assert [m.is_visual for m in mentions] == [True, True, False, True]
    assert find_mentions(reversed(captions), shipped()) == mentions


def test_numbers_in_brackets_count_visual_chunks_from_the_first() -> None:
    chunks = [Chunk(0, 1, ("people",)), Chunk(1, 2, (NOT_VISUAL,)), Chunk(3, 4, ("scene",))]
    assert (
        to_brackets(("a", "b", "c", "d", "e"), chunks, first_number=7)
        == "[/EN#7/people a] [/EN#0/notvisual b] c [/EN#8/scene d] e"
    )


WORDS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["a", "A", "man", "of", "the", "blue", "in", ",", "and", "dog", "'s", "\ud800"]
    ),
)


@given(st.lists(WORDS, max_size=25))
def test_chunks_never_overlap_or_leave_the_caption(tokens: list[str]) -> None:
    at = 0
    for chunk in shipped().find(tokens):
        assert at <= chunk.start < chunk.end <= len(tokens)
        assert chunk.types == (NOT_VISUAL,) or set(chunk.types) <= set(ENTITY_TYPES)
        at = chunk.end


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_brackets_hold_the_caption_and_its_chunks(text: str) -> None:
    tokens = tokenise(text)
    chunks = shipped().find(tokens)
    words, spans = _read_brackets(to_brackets(tokens, chunks))
    assert tuple(words) == tokens
    assert spans == [(chunk.start, chunk.end, chunk.types) for chunk in chunks]


def _read_brackets(line: str) -> tuple[list[str], list[tuple[int, int, tuple[str, ...]]]]:
    words: list[str] = []
    spans = []
    start = 0
    types: tuple[str, ...] = ()
    for word in line.split():
        if word.startswith("["):
            start, types = len(words), tuple(word.split("/")[2:])
            continue
        words.append(word.removesuffix("]"))
        if word.endswith("]"):
            spans.append((start, len(words), types))
    return words, spans


def test_shipped_files_are_sorted_and_say_nothing_twice() -> None:
    for name in (LEFT_OUT_FILE, "colours.txt", *map(type_file, ENTITY_TYPES)):
        entries = read_entries(MENTION_DATA / name)
        assert entries == sorted(set(entries)), name
    left_out = set(read_entries(MENTION_DATA / LEFT_OUT_FILE))
    for entity_type in ENTITY_TYPES:
        assert not left_out & set(read_entries(MENTION_DATA / type_file(entity_type)))


def test_dictionaries_can_be_edited(tmp_path: Path) -> None:
    folder = shutil.copytree(MENTION_DATA, tmp_path / "mine")
    with (folder / "people.txt").open("a", encoding="utf-8") as people:
        people.write("\n# ours\n  Snow   MAN  # of snow\ndrone\n")
    with (folder / "vehicles.txt").open("a", encoding="utf-8") as vehicles:
        vehicles.write("drone\n")
    with (folder / LEFT_OUT_FILE).open("a", encoding="utf-8") as left_out:
        left_out.write("man\n")
    types = MentionFinder.load(folder).types
    assert types(["A", "snow", "man"]) == ("people",)
    assert types(["A", "man"]) == (NOT_VISUAL,)
    assert types(["A", "Drone"]) == ("people", "vehicles")
    assert "# ours" not in read_dictionary(folder).entries


def test_a_folder_that_is_not_complete_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"it lacks chunker\.crfsuite, left_out\.txt"):
        MentionFinder.load(tmp_path)
    folder = shutil.copytree(MENTION_DATA, tmp_path / "cut")
    model = folder / MODEL_FILE
    model.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(ValueError, match="not a complete chunker model"):
        MentionFinder.load(folder)


def test_learnt_entries_are_as_few_and_as_short_as_can_be() -> None:
    counts = TypeCounts()
    for chunk, types, times in [
        ("a dog", ("animals",), 9),
        ("the dog", ("animals",), 9),
        ("a hot dog", ("other",), 3),
        ("the hot dog", ("other",), 2),
        ("a bench", ("other",), 5),
        ("a bus", ("vehicles", "scene"), 1),
        ("a cold dog", ("other",), 1),
        ("me", ("other",), 8),
        ("the truth", (NOT_VISUAL,), 5),
        ("the lie", (NOT_VISUAL,), 4),
    ]:
        for _ in range(times):
            counts.add(chunk.split(), types)
    assert counts.entries(left_out=["me"]) == {
        "dog": ("animals",),
        "hot dog": ("other",),
        "bus": ("vehicles", "scene"),
        "me": (NOT_VISUAL,),
        "truth": (NOT_VISUAL,),
    }


def test_a_trained_folder_finds_what_it_was_taught(tmp_path: Path) -> None:
    lesson = [
        Sentence(
            tokens=("A", animal, "eats", "the", food, "."),
            phrases=(Phrase(0, 2, ("animals",), 1), Phrase(3, 5, ("other",), 2)),
        )
        for animal in ("zebu", "dzo", "yak")
        for food in ("hay", "grass", "corn")
    ]
    finder = train(lesson, tmp_path / "new")
    assert finder.find(("A", "dzo", "eats", "the", "corn", ".")) == (
        Chunk(0, 2, ("animals",)),
        Chunk(3, 5, ("other",)),
    )
    perfect = score(finder, lesson)
    assert (perfect.f1, perfect.type_share, perfect.visual_type_share) == (1.0, 1.0, 1.0)
    assert read_entries(tmp_path / "new" / "animals.txt") == ["dzo", "yak", "zebu"]
    assert "she" in read_entries(tmp_path / "new" / LEFT_OUT_FILE)


def test_training_needs_phrases(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        train([Sentence(tokens=("Hello",), phrases=())], tmp_path)


def test_the_score_counts_spans_and_types() -> None:
    tokens = tokenise("A man in an orange hat waits")
    gold = Sentence(
        tokens=tokens,
        phrases=(
            Phrase(0, 2, ("people",), 1),
            Phrase(3, 7, ("clothing",), 2),
            Phrase(3, 6, (NOT_VISUAL,), 0),
        ),
    )
    result = score(shipped(), [gold])
    assert (result.gold, result.found, result.right) == (3, 2, 2)
    assert (result.precision, result.recall, result.f1) == (1.0, 2 / 3, 0.8)
    assert (result.types_right, result.visual_gold, result.visual_types_right) == (1, 2, 1)


def test_the_scores_of_nothing_are_zero() -> None:
    nothing = MentionScore(0, 0, 0, 0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)
    assert (nothing.type_share, nothing.visual_type_share) == (0.0, 0.0)


def test_each_score_divides_by_its_own_count() -> None:
    some = MentionScore(
        gold=8, found=5, right=4, types_right=6, visual_gold=4, visual_types_right=3
    )
    assert (some.precision, some.recall, some.f1) == (4 / 5, 4 / 8, 8 / 13)
    assert (some.type_share, some.visual_type_share) == (6 / 8, 3 / 4)
