import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from annotation.management.commands.release_stats import release_statistics
from annotation.management.progress import with_progress
from annotation.pipeline.geometry import Rect
from annotation.pipeline.release.folder import (
    ReleasedBox,
    ReleasedImage,
    ReleaseError,
    UnboxedChain,
    parse_sentence,
    write_image,
    write_unrelated,
)
from annotation.pipeline.release.statistics import (
    DatasetStatistics,
    TopWords,
    adjectives,
    dataset_statistics,
)
from annotation.pipeline.release.statistics_report import report

REPOSITORY = Path(__file__).resolve().parents[3]
RECT = Rect(1, 1, 10, 10)

# Chain 1: people, three mentions, two boxes. Chain 2: clothing in one caption and other in the
# next, one box, which it shares with chain 1. Chain 3: scene, no box. Chain 9: no mention.
FIRST = ReleasedImage(
    image="a",
    filename="a.jpg",
    width=20,
    height=20,
    depth=3,
    sentences=(
        parse_sentence("[/EN#1/people Two young , White men] in [/EN#2/clothing red shirts] ."),
        parse_sentence("[/EN#1/people The men] with [/EN#2/other a big flag] ."),
        parse_sentence("[/EN#1/people Men] [/EN#3/scene outside] at [/EN#0/notvisual work] ."),
    ),
    boxes=(ReleasedBox((1, 2), RECT), ReleasedBox((1,), Rect(2, 2, 5, 5))),
    unboxed=(
        UnboxedChain(3, scene=True, nobndbox=False),
        UnboxedChain(9, scene=True, nobndbox=True),
    ),
)
# Chain 4: one mention of two types, no box. Chain 5: a mention, but no object.
SECOND = ReleasedImage(
    image="b",
    filename="b.jpg",
    width=20,
    height=20,
    depth=3,
    sentences=(
        parse_sentence("[/EN#4/vehicles/scene A red train] passes [/EN#5/people one man] ."),
        parse_sentence("Nothing to see ."),
    ),
    boxes=(),
    unboxed=(UnboxedChain(4, scene=False, nobndbox=True),),
)
STATISTICS = dataset_statistics([FIRST, SECOND], unrelated={"b": (2,), "elsewhere": (1, 2)})


def test_totals_are_counted() -> None:
    s = STATISTICS
    assert (s.images, s.captions, s.unrelated_captions) == (2, 5, 1)
    assert (s.mentions, s.notvisual_phrases, s.mentions_of_several_types) == (8, 1, 1)
    assert s.mention_words == 5 + 2 + 2 + 3 + 1 + 1 + 3 + 2
    assert (s.chains, s.chains_without_mention, s.chains_without_object) == (6, 1, 1)
    assert (s.chains_of_several_types, s.chains_with_several_mentions) == (2, 2)
    assert s.chains_with_one_box == 1
    assert s.chains_with_several_boxes == 1
    assert s.chains_without_box == 4
    assert (s.boxes, s.boxes_of_several_chains) == (2, 1)
    assert (s.scene_only, s.nobox_only, s.scene_and_nobox, s.neither_flag) == (1, 1, 1, 0)


def test_a_chain_counts_in_full_for_each_of_its_types() -> None:
    counted = {
        t.type: (t.images, t.chains, t.mentions, t.own_mentions, t.boxes, t.distinct_boxes)
        for t in STATISTICS.types
    }
    assert counted == {
        "people": (2, 2, 4, 4, 2, 2),
        "clothing": (1, 1, 2, 1, 1, 1),
        "bodyparts": (0, 0, 0, 0, 0, 0),
        "animals": (0, 0, 0, 0, 0, 0),
        "vehicles": (1, 1, 1, 1, 0, 0),
        "instruments": (0, 0, 0, 0, 0, 0),
        "scene": (2, 2, 2, 2, 0, 0),
        "other": (1, 1, 2, 1, 1, 1),
    }


def test_boxes_and_marks_of_a_type_are_its_annotations() -> None:
    people, scene = STATISTICS.types[0], STATISTICS.types[6]
    assert (people.chains_with_several_boxes, people.chains_without_box) == (1, 1)
    assert (people.annotations, people.unboxed) == (2, 0)
    assert (scene.annotations, scene.unboxed, scene.chains_without_box) == (2, 2, 2)


def test_words_are_covered_where_their_chain_has_a_box() -> None:
    nouns = STATISTICS.nouns  # men ×3, shirts, flag; not outside, train, man
    assert (nouns.words, nouns.occurrences) == (6, 8)
    assert (nouns.boxed_words, nouns.boxed_occurrences) == (3, 5)
    assert nouns.top[0] == TopWords(6, 8, 5)
    described = STATISTICS.adjectives  # young, white, red, big; the train's red is not covered
    assert (described.words, described.occurrences) == (4, 5)
    assert (described.boxed_words, described.boxed_occurrences) == (4, 4)


def test_most_frequent_words_come_first() -> None:
    lines = [f"[/EN#{n}/other word{n}]" for n in range(1, 13)] + ["[/EN#1/other word1]"] * 4
    image = msgspec.structs.replace(
        FIRST,
        sentences=tuple(map(parse_sentence, lines)),
        boxes=(ReleasedBox((1,), RECT),),
        unboxed=(),
    )
    top = dataset_statistics([image]).nouns.top
    assert top == (TopWords(10, 14, 5), TopWords(12, 16, 5), TopWords(12, 16, 5))


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ("a man", []),
        ("The tall red-haired woman", ["tall", "red-haired"]),
        ("his 3 old , BLUE cars", ["old", "blue"]),
        ("red", []),
    ],
)
def test_adjectives_stand_before_the_head(chunk: str, words: list[str]) -> None:
    assert adjectives(tuple(chunk.split())) == words


def lines_of(text: str, title: str) -> dict[str, list[str]]:
    block = next(part for part in text.split("\n\n") if part.startswith(title))
    rows = [line.split() for line in block.split("\n")[1:]]
    return {row[0]: row[1:] for row in rows}


def test_the_report_sets_our_numbers_beside_the_paper() -> None:
    text = report(STATISTICS)
    table = lines_of(text, "Table 1")
    assert table["people"] == ["2", "59,766", "2.00", "3.17", "1.00", "1.95"]
    assert table["animals"] == ["0", "5,086", "-", "3.63", "-", "1.44"]
    # Six chains; the means are over the seven pairs of a chain and a type of it.
    assert table["total"] == ["6", "244,034", "1.57", "2.25", "0.57", "1.27"]
    assert lines_of(text, "Images that mention")["scene"] == ["2", "100.0%", "79.7%"]
    assert lines_of(text, "Figure 2")["people"][:3] == ["2", "4", "2"]
    assert lines_of(text, "Chart A")["people"] == ["1.00", "50.0%", "0.0%", "50.0%"]
    assert lines_of(text, "Chart B")["scene"] == ["1.00", "0.00", "1.00"]
    totals = text.split("\n\n")[0]
    assert len({len(line) for line in totals.split("\n")[1:]}) == 1
    assert "with several mentions" in totals
    assert totals.split("\n")[5].split() == ["per", "caption", "1.60", "3.2"]


def test_an_empty_release_has_a_report() -> None:
    assert "people" in report(dataset_statistics([]))


def test_images_are_counted_as_a_stream() -> None:
    alive: list[int] = []

    def stream() -> Iterator[ReleasedImage]:
        for number in range(3):
            alive.append(number)
            yield FIRST

    assert dataset_statistics(stream()).images == 3
    assert alive == [0, 1, 2]


def release(directory: Path) -> Path:
    write_image(directory, FIRST)
    write_image(directory, SECOND)
    write_unrelated(directory, {"b": [2]})
    return directory


def test_a_directory_is_counted(tmp_path: Path) -> None:
    assert release_statistics(str(release(tmp_path)), progress=io.StringIO()) == STATISTICS


def test_a_directory_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="this is not a release"):
        release_statistics(str(tmp_path), progress=io.StringIO())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ticking(seconds: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += seconds


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_a_quick_run_shows_no_progress(stream: io.StringIO) -> None:
    clock = ticking(0.1)
    items = with_progress(
        range(15), what="images read", total=15, stream=stream, clock=lambda: next(clock)
    )
    assert list(items) == list(range(15))
    assert stream.getvalue() == ""


def test_a_terminal_shows_one_line_and_clears_it() -> None:
    stream, clock = Terminal(), ticking(1.0)
    list(
        with_progress(
            range(3), what="images read", total=3000, stream=stream, clock=lambda: next(clock)
        )
    )
    shown = "\r2 of 3,000 images read\r3 of 3,000 images read\r\x1b[K"
    assert stream.getvalue() == shown


def test_a_log_gets_a_line_now_and_then() -> None:
    stream, clock = io.StringIO(), ticking(1.0)
    list(
        with_progress(
            range(20), what="images read", total=20, stream=stream, clock=lambda: next(clock)
        )
    )
    assert stream.getvalue() == "2 of 20 images read\n12 of 20 images read\n"


# Settings of its own without a database: any use of one would fail.
RUN = """
import sys
import django
from django.conf import settings
settings.configure(DATABASES={})
django.setup()
from annotation.management.commands.release_stats import Command
Command().run_from_argv(["manage.py", "release_stats", *sys.argv[1:]])
"""


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_the_command_needs_no_database(tmp_path: Path) -> None:
    done = run_command(str(release(tmp_path)), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert msgspec.json.decode(done.stdout, type=DatasetStatistics) == STATISTICS


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    release(tmp_path)
    (tmp_path / "Annotations" / "b.xml").unlink()
    done = run_command(str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"CommandError: {tmp_path}/Annotations/b.xml: the file is missing\n"
