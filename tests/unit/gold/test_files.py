"""Files of gold questions: what they say, what is wrong with them, and writing them."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.captions import Caption
from annotation.pipeline.corpus.corpus_image import Problem
from annotation.pipeline.corpus.importers import CorpusError
from annotation.pipeline.geometry import Rect
from annotation.pipeline.gold.files import (
    LARGEST_FILE,
    GoldLine,
    GoldLineError,
    WrittenGold,
    gold_of,
    read_gold,
    write_gold,
)
from annotation.pipeline.gold.gold_question import Gold, GoldSource
from annotation.pipeline.gold.maker import make_gold
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.work.display import Mark, Shown
from tests.unit.gold.park import known_park, park_state

LINKS = (
    '{"stage": "links", "image": "park", "answer": "yes", "captions": '
    '[{"number": 1, "phrases": ["two dogs"]}, {"number": 2, "phrases": ["Dogs"]}]}'
)
QUALITY = (
    '{"stage": "quality", "image": "park", "answer": "bad", "kind": "loose", '
    '"captions": [{"number": 1, "phrases": ["a man"]}], "boxes": [[200, 200, 260, 280]], '
    '"candidate": [1, 1, 390, 290]}'
)
CSV = """stage,image,answer,phrases,boxes,candidate,kind
links,park,yes,1: two dogs | 2: Dogs,,,
quality,park,bad,1: a man,200 200 260 280,1 1 390 290,loose
coverage,park,no,"3: two puppies",200 200 260 280 | 300 210 380 290,,
"""


def written(tmp_path: Path, text: str) -> list[GoldLine | Problem]:
    file = tmp_path / "gold"
    file.write_text(text, encoding="utf-8")
    return list(read_gold(file))


def good(tmp_path: Path, text: str) -> list[WrittenGold]:
    lines = written(tmp_path, text)
    assert not [str(line) for line in lines if isinstance(line, Problem)]
    return [line.written for line in lines if isinstance(line, GoldLine)]


def test_json_and_csv_say_the_same(tmp_path: Path) -> None:
    of_json = good(tmp_path, f"\n{LINKS}\n\n{QUALITY}\n")
    of_csv = good(tmp_path, CSV)
    assert of_csv[:2] == of_json
    assert [item.stage for item in of_csv] == [Stage.LINKS, Stage.QUALITY, Stage.COVERAGE]
    assert good(tmp_path, CSV.replace(",", "\t").replace('"', "")) == of_csv


def test_what_a_line_comes_to(tmp_path: Path) -> None:
    links, quality = good(tmp_path, f"{LINKS}\n{QUALITY}\n")
    assert gold_of(links, park_state()) == Gold(
        stage=Stage.LINKS,
        image="park",
        shown=Shown((1, 2), (Mark(3, 1, 7, 9, 1), Mark(5, 2, 4, 5, 2))),
        answer="yes",
    )
    made = gold_of(quality, park_state())
    assert (made.kind, made.source) == ("loose", GoldSource.FILE)
    assert made.shown.candidate == Rect(1, 1, 390, 290)


def test_phrases_may_be_tokens(tmp_path: Path) -> None:
    [links] = good(tmp_path, LINKS.replace('"two dogs"', "[7, 9]"))
    assert gold_of(links, park_state()).shown.marks[0] == Mark(3, 1, 7, 9, 1)


def test_verification_shows_every_caption(tmp_path: Path) -> None:
    [item] = good(tmp_path, LINKS.replace('"links"', '"verification"').replace("yes", "true"))
    assert gold_of(item, park_state()).shown.captions == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 1: this is not valid JSON; write one question per line, each as {…}"),
        (LINKS.replace("links", "lynx"), "line 1: `stage`: 'lynx' is none of the choices"),
        (LINKS.replace('"answer": "yes", ', ""), "line 1: `answer` is missing"),
        (LINKS.replace('"answer"', '"reply"'), "there is no field `reply`; there are: `stage`"),
        (QUALITY.replace("[1, 1, 390, 290]", "[1, 1]"), "line 1: `candidate` must be a list of 4"),
        (QUALITY.replace('"a man"', "7"), "line 1: `captions`, entry 1, `phrases`, entry 1 must"),
        ("", "the file contains no questions"),
        (f"{LINKS}\n{{}}", "line 2: `stage` is missing"),
        ("stage,image,answer,phrases\nlinks,park,yes", "line 2: the row has 3 fields"),
        ("stage,image,answer,phrases\nlinks,park,yes,two dogs", "line 2: `phrases`: 'two dogs'"),
        (CSV.replace("1 1 390 290", "1 1 390"), "line 3: '1 1 390' is not a box"),
        (CSV.replace("quality,park", "lynx,park"), "line 3: `stage`: 'lynx' is none of"),
        (CSV + 'links,"park', "line 5: a quoted field is never closed"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, text: str, why: str) -> None:
    problems = [str(line) for line in written(tmp_path, text) if isinstance(line, Problem)]
    assert len(problems) == 1
    assert why in problems[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"[{LINKS}]", "line 1: this is a JSON list; write one question per line"),
        ("stage,image,phrases\n", "the header has no column answer; the columns are stage,"),
        (
            "stage,image,answer,phrases,why\n",
            "the header has an unknown column 'why'; the columns are",
        ),
        ("stage,image,answer,phrases,image\n", "the header has the column image twice"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CorpusError, match="line 1") as caught:
        written(tmp_path, text)
    assert why in str(caught.value)


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no such file"):
        list(read_gold(tmp_path / "absent"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe{")
    with pytest.raises(CorpusError, match="not UTF-8"):
        list(read_gold(tmp_path / "bytes"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("two dogs", "two cats"), "caption 1 does not contain 'two cats'"),
        (("two dogs", " "), "a phrase of caption 1 is blank"),
        (('"number": 2', '"number": 9'), "the image has no caption 9; its captions are 1, 2, 3, 4"),
        (('"number": 2', '"number": 1'), "a caption is listed twice"),
        (('"two dogs"', "[8, 99]"), "tokens 8 to 99 are outside caption 1"),
        (('"two dogs"', "[8, 9]"), "'dogs' is not a mention of caption 1, so workers could spot"),
        (('"two dogs"', '"dogs"'), "; its mentions are: 'A man', 'a red ball', 'two dogs'"),
        (('"two dogs"', "[7, 9], [8, 9]"), "tokens [8, 9] of caption 1 are already marked"),
        (('"two dogs"', '"two dogs", "a man"'), "links needs 2 marked phrases, not 3"),
        (('"yes"', '"perhaps"'), "'perhaps' is not an answer of links; use one of: yes, no"),
        (('"links"', '"drawing"'), "Box Drawing has no gold questions"),
    ],
)
def test_lines_that_the_image_contradicts(
    tmp_path: Path, change: tuple[str, str], why: str
) -> None:
    [item] = good(tmp_path, LINKS.replace(*change))
    with pytest.raises(GoldLineError) as caught:
        gold_of(item, park_state())
    assert why in str(caught.value)


@given(st.sampled_from(GOLD_STAGES), st.text(max_size=5))
def test_what_is_written_reads_back(stage: Stage, seed: str) -> None:
    state = park_state()
    captions = {caption.number: caption.tokens for caption in state.captions}
    for gold in make_gold(known_park(), stage, Settings(), seed, per_answer=20):
        line = write_gold(gold, captions)
        again = gold_of(_read(line), state)
        assert again.key == gold.key
        assert (again.answer, again.kind, again.workers) == (gold.answer, gold.kind, ())


def test_a_phrase_is_written_in_its_words_whatever_other_captions_mark() -> None:
    captions = {1: ("a", "dog", "and", "a", "dog"), 2: ("a", "dog", "and", "a", "dog")}
    marks = (Mark(1, 1, 0, 2, 1), Mark(2, 2, 0, 2, 2), Mark(3, 2, 3, 5, 3), Mark(4, 1, 3, 5, 4))
    gold = Gold(Stage.VERIFICATION, "dogs", Shown((1, 2), marks), "true")
    written = _read(write_gold(gold, captions))
    assert [(caption.number, caption.phrases) for caption in written.captions] == [
        (1, ("a dog", "a dog")),
        (2, ("a dog", "a dog")),
    ]


WORDS = st.sampled_from(["dog", "Dog", "a", "'s", "U.S.", "t-shirt", "--", "``", "1/2", "x.y"])


@given(st.lists(WORDS, min_size=2, max_size=8), st.data())
def test_any_two_spans_read_back(tokens: list[str], data: st.DataObject) -> None:
    """However often a caption says the same, and however oddly it was split."""
    cut = data.draw(st.integers(1, len(tokens) - 1))
    first = (data.draw(st.integers(0, cut - 1)), cut)
    second = (cut, data.draw(st.integers(cut + 1, len(tokens))))
    spans = data.draw(st.permutations([first, second]))
    state = ImageState(
        width=10,
        height=10,
        captions=(Caption(1, tuple(tokens)),),
        mentions=tuple(
            Mention(number=number, caption=1, start=start, end=end, types=("other",))
            for number, (start, end) in enumerate((first, second), start=4)
        ),
    )
    marks = tuple(
        Mark(4 if span == first else 5, 1, *span, colour)
        for colour, span in enumerate(spans, start=1)
    )
    gold = Gold(Stage.VERIFICATION, "odd", Shown((1,), marks), "true")
    assert gold_of(_read(write_gold(gold, {1: tokens})), state).shown == gold.shown


def _read(line: str) -> WrittenGold:
    return msgspec.json.decode(line, type=WrittenGold)


def test_a_file_may_be_exactly_as_large_as_the_limit(tmp_path: Path) -> None:
    blank = " " * (2**20 - 1) + "\n"
    padding = (LARGEST_FILE - 2**20) // len(blank) * blank
    text = f"{LINKS}\n{padding}"
    text += " " * (LARGEST_FILE - len(text))
    [line] = good(tmp_path, text)
    assert line.image == "park"
    with pytest.raises(CorpusError, match="the file is larger than 16 MB; import it in parts"):
        good(tmp_path, text + "\n")
