"""Release directories: captions, annotations and lists that no release has."""

from collections.abc import Callable
from itertools import islice, product
from pathlib import Path

from tests.hostile.cases import Case
from tests.hostile.database import prepare_campaign as prepare
from tests.hostile.readers import corpus, release

__all__ = ["CASES", "prepare"]

Content = Callable[[], str | bytes]

SIZE = "<size>\n<width>9</width>\n<height>9</height>\n<depth>3</depth>\n</size>\n"
HEAD = f"<annotation>\n<filename>1.jpg</filename>\n{SIZE}"
USUAL = (
    "<annotation>\n\t<filename>1.jpg</filename>\n\t<size>\n\t\t<width>9</width>\n"
    "\t\t<height>9</height>\n\t\t<depth>3</depth>\n\t</size>\n"
)
BOX = (
    "\t\t<bndbox>\n\t\t\t<xmin>1</xmin>\n\t\t\t<ymin>1</ymin>\n"
    "\t\t\t<xmax>2</xmax>\n\t\t\t<ymax>2</ymax>\n\t\t</bndbox>\n"
)
ENTITIES = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">\n' for n in range(9))


def folder_of(files: dict[str, Content]) -> Callable[[Path], Path]:
    """A release of one image; some of its files are replaced."""
    sound: dict[str, Content] = {
        "Sentences/1.txt": lambda: "[/EN#1/people A man] sits .\n",
        "Annotations/1.xml": lambda: HEAD + "</annotation>",
    }

    def make(folder: Path) -> Path:
        for name, content in (sound | files).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            made = content()
            path.write_bytes(made.encode() if isinstance(made, str) else made)
        return folder

    return make


def case(name: str, file: str, content: Content, *says: str) -> list[Case]:
    """Read it both for its statistics and for import."""
    make = folder_of({file: content})
    told = (file, *says) if says else ()
    return [
        Case(f"statistics: {name}", make, release, told),
        Case(f"import: {name}", make, corpus("entities", "--accept"), told),
    ]


def ids(count: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "\n".join("".join(id_) for id_ in islice(product(letters, repeat=5), count))


SENTENCES, XML = "Sentences/1.txt", "Annotations/1.xml"

CASES = [
    *case("captions of 100 MB", SENTENCES, lambda: b"a " * 50_000_000, "larger"),
    *case("caption of a million words", SENTENCES, lambda: "aa " * 1_000_000 + "a", "line 1"),
    *case("a million captions", SENTENCES, lambda: "a b\n" * 1_000_000, "captions"),
    *case(
        "phrase of 25,000 types",
        SENTENCES,
        lambda: "[/EN#1/" + "people/" * 25_000 + "x a]",
        "line 1",
    ),
    *case("brackets", SENTENCES, lambda: "[" * 150_000, "line 1"),
    *case("chain of 5,000 digits", SENTENCES, lambda: f"[/EN#{'1' * 5000}/people A man]", "line 1"),
    *case("annotation of 100 MB", XML, lambda: b"<a>\n" * 25_000_000, "larger"),
    *case("annotation of half a million lines", XML, lambda: "a\n" * 500_000, "line 1"),
    *case("entities that grow", XML, lambda: f"<!DOCTYPE x [\n{ENTITIES}]>\n{HEAD}", "line 1"),
    *case(
        "file as an entity",
        XML,
        lambda: f'<!DOCTYPE x SYSTEM "file:///etc/passwd">\n{HEAD}',
        "line 1",
    ),
    *case("nested objects", XML, lambda: HEAD + "<object>\n" * 100_000, "line 8"),
    *case(
        "object of 30,000 names",
        XML,
        lambda: (
            USUAL
            + "\t<object>\n"
            + "".join(f"\t\t<name>{n}</name>\n" for n in range(1, 30_000))
            + BOX
            + "\t</object>\n</annotation>"
        ),
    ),
    *case(
        "object that names one chain 40,000 times",
        XML,
        lambda: (
            USUAL
            + "\t<object>\n"
            + "\t\t<name>1</name>\n" * 40_000
            + BOX
            + "\t</object>\n</annotation>"
        ),
        "twice",
    ),
    *case(
        "6,000 objects",
        XML,
        lambda: (
            USUAL
            + ("\t<object>\n\t\t<name>1</name>\n" + BOX + "\t</object>\n") * 6_000
            + "</annotation>"
        ),
    ),
    *case(
        "width of 5,000 digits",
        XML,
        lambda: HEAD.replace("<width>9", f"<width>{'9' * 5000}"),
        "line 4",
    ),
    *case("ampersands", XML, lambda: HEAD.replace("1.jpg", "&" * 500_000), "line 2"),
    *case("zeros", XML, lambda: bytes(900_000), "line 1"),
    *case("split of a million images", "train.txt", lambda: ids(1_000_000), "entries"),
    *case("split of empty lines", "train.txt", lambda: "\n" * 8_000_000),
    *case("split of 100 MB", "train.txt", lambda: "\n" * 100_000_000, "larger"),
    *case("image that is listed twice", "train.txt", lambda: "1\n" * 1_000_000, "line 2"),
    *case(
        "unrelated captions of one image",
        "UNRELATED_CAPTIONS",
        lambda: "".join(f"1 {n}\n" for n in range(1, 150_000)),
        "captions",
    ),
    *case(
        "unrelated caption of 5,000 digits",
        "UNRELATED_CAPTIONS",
        lambda: f"1 {'9' * 5000}\n",
        "line 1",
    ),
]
