"""What people write: guides in TOML, and gold questions."""

from collections.abc import Callable
from pathlib import Path

from tests.hostile.cases import Case, file_of
from tests.hostile.database import prepare_campaign as prepare
from tests.hostile.readers import gold, guides

__all__ = ["CASES", "prepare"]

HEAD = 'title = "Links"\nquestion = "Same?"\nguidelines = ["Look."]\n'


def guide(name: str, content: Callable[[], str | bytes], *says: str) -> Case:
    def make(folder: Path) -> Path:
        file_of("links.toml", content)(folder)
        return folder

    return Case(f"guide: {name}", make, guides, ("links.toml", *says))


def question(
    name: str, content: Callable[[], str | bytes], *says: str, file: str = "g.jsonl"
) -> Case:
    return Case(f"question: {name}", file_of(file, content), gold, (file, *says))


def line(more: str) -> str:
    return f'{{"stage": "links", "image": "a", "captions": [], "answer": "yes", {more}}}\n'


GUIDES = [
    guide("400 KB of one dotted key", lambda: ".".join(["a"] * 200_000) + " = 1", "KB"),
    guide(
        "200 KB of one dotted key", lambda: ".".join(["a"] * 100_000) + " = 1", "line 1", "parts"
    ),
    guide(
        "dotted key with spaces and quotes",
        lambda: HEAD + " . ".join(['"a"', "'b'"] * 15_000) + " = 1",
        "line 4",
        "parts",
    ),
    guide("table of 100,000 parts", lambda: f"[{'.'.join(['a'] * 100_000)}]", "line 1", "parts"),
    guide("table in a list of 60,000 parts", lambda: f"[[{'.'.join(['a'] * 60_000)}]]", "parts"),
    guide(
        "dotted keys in an inline table",
        lambda: HEAD + "a = {" + ".".join(["b"] * 100_000) + " = 1}",
        "line 4",
        "parts",
    ),
    guide("nested arrays", lambda: HEAD + "a = " + "[" * 100_000, "line 4", "nested"),
    guide("nested arrays on lines of their own", lambda: "a = " + "[\n" * 100_000, "nested"),
    guide("nested inline tables", lambda: HEAD + "a = " + "{a = " * 40_000, "line 4", "nested"),
    guide(
        "many keys of twenty parts",
        lambda: "".join(f"{'.'.join('abcdefghijklmnopqrst')}.k{n} = 1\n" for n in range(4500)),
        "links.toml",
    ),
    guide("25,000 tables", lambda: "".join(f"[t{n}]\n" for n in range(25_000)), "links.toml"),
    guide("19,000 tables in a list", lambda: HEAD + "[[examples]]\n" * 19_000, "examples"),
    guide("integer of 200,000 digits", lambda: f"a = {'1' * 200_000}", "links.toml"),
    guide(
        "string of escapes",
        lambda: f'title = "{chr(92)}n' * 1 + "\\n" * 120_000 + '"',
        "links.toml",
    ),
    guide("string that is never closed", lambda: 'title = """' + "\n" * 250_000, "links.toml"),
    guide("guide of 3 MB", lambda: "#" * 3_000_000, "KB"),
    guide("bytes that are no text", lambda: b"\xff" * 200_000, "UTF-8"),
]

QUESTIONS = [
    question("nested arrays", lambda: '{"stage": ' + "[" * 500_000 + "\n", "line 1"),
    question("unknown field with nested arrays", lambda: line(f'"x": {"[" * 400_000}'), "line 1"),
    question("integer of 5,000 digits", lambda: line(f'"boxes": [[{"1" * 5000},1,1,1]]'), "line 1"),
    question(
        "80,000 boxes", lambda: line(f'"boxes": [{",".join(["[1,1,1,1]"] * 80_000)}]'), "line 1"
    ),
    question("line of 15 MB", lambda: "{" + " " * 15_000_000, "line 1"),
    question("lines that are no questions", lambda: "{}\n" * 1_000_000, "line 1", "bad"),
    question(
        "questions about images that are not there", lambda: line('"kind": ""') * 20_000, "line 1"
    ),
    question(
        "quote that is never closed",
        lambda: 'stage,image,answer,phrases\nlinks,a,yes,"x\n' + '","\n' * 3_000_000,
        "line 2",
        "quote",
        file="g.csv",
    ),
    question(
        "row of 900,000 bars",
        lambda: "stage,image,answer,phrases\nlinks,a,yes," + "|" * 900_000,
        "line 2",
        file="g.csv",
    ),
    question("file of 60 MB", lambda: line('"kind": "x"') * 700_000, "MB"),
]

CASES = [*GUIDES, *QUESTIONS]
