"""Corpus files: JSON, CSV and token files that cost their readers dearly."""

from collections.abc import Callable

from tests.hostile.cases import Case, file_of
from tests.hostile.database import prepare_campaign as prepare
from tests.hostile.readers import corpus, mentions

__all__ = ["CASES", "prepare"]


def karpathy(images: str) -> str:
    return f'{{"images": [{images}], "dataset": "hostile"}}'


def image(sentences: str, more: str = "") -> str:
    return f'{{"filename": "a.jpg", "split": "train", {more}"sentences": [{sentences}]}}'


def coco(images: str, annotations: str) -> str:
    return f'{{"annotations": [{annotations}], "images": [{images}]}}'


def json_case(name: str, content: Callable[[], str], *says: str, format: str = "karpathy") -> Case:
    return Case(
        f"JSON: {name}", file_of("corpus.json", content), corpus(format), ("corpus.json", *says)
    )


def text_case(
    name: str, content: Callable[[], str | bytes], *says: str, format: str, file: str = "corpus.txt"
) -> Case:
    return Case(
        f"{format}: {name}",
        file_of(file, content),
        corpus(format),
        (file, *says) if says else (),
    )


def guessed(name: str, content: Callable[[], str], *says: str) -> Case:
    """A file whose format is to be guessed, which reads all its keys."""
    return Case(name, file_of("corpus.json", content), corpus(), ("corpus.json", *says))


GOOD = '{"raw": "A dog ."}'
DIGITS = "1" * 4301

JSON = [
    json_case("integer of 4,301 digits", lambda: karpathy(DIGITS), "digits"),
    json_case("negative integer of 5,000 digits", lambda: karpathy(f"-{'9' * 5000}"), "digits"),
    json_case(
        "integer of a million digits as a width",
        lambda: coco(f'{{"id": 1, "file_name": "a.jpg", "width": {"7" * 1_000_000}}}', ""),
        "digits",
        format="coco",
    ),
    json_case("fraction of a million digits", lambda: karpathy(f"0.{'3' * 1_000_000}"), "digits"),
    json_case("exponent of 5,000 digits", lambda: karpathy(f"1e{'9' * 5000}"), "digits"),
    json_case("number too large for any float", lambda: karpathy("1e400"), "line 1"),
    guessed("integer of 4,301 digits, guessed", lambda: f'{{"a": {DIGITS}}}', "digits"),
    guessed("integer of digits outside the items", lambda: f'{{"a": {DIGITS}, "annotations": []}}'),
    json_case(
        "200,000 nested arrays", lambda: karpathy("[" * 200_000 + "]" * 200_000), "nested", "line 1"
    ),
    json_case("arrays that are never closed", lambda: "[" * 600_000, "nested"),
    json_case(
        "600 KB of nested objects",
        lambda: karpathy('{"a":' * 100_000 + "1" + "}" * 100_000),
        "nested",
    ),
    guessed(
        "600 KB of nested objects, guessed",
        lambda: '{"a":' * 100_000 + "1" + "}" * 100_000,
        "nested",
    ),
    json_case(
        "nested objects with long keys",
        lambda: karpathy(f'{{"{"k" * 20_000}":' * 60 + "1" + "}" * 60),
        "line 1",
    ),
    guessed(
        "few nested objects with a long key each",
        lambda: f'{{"{"k" * 500_000}":' * 20 + "1" + "}" * 20,
        "key",
    ),
    json_case(
        "arrays and objects in turn, on many lines",
        lambda: "\n" * 99 + karpathy('[{"a":' * 50_000),
        "line 100",
        "nested",
    ),
    json_case("string of 20 MB", lambda: karpathy(f'"{"a" * 20_000_000}"'), "line 1"),
    json_case(
        "string of 10 MB of escapes", lambda: karpathy('"' + "\\u0041" * 1_700_000 + '"'), "line 1"
    ),
    json_case("string that is never closed", lambda: karpathy('"') + "a" * 20_000_000, "line 1"),
    json_case("key of 10 MB", lambda: karpathy(f'{{"{"k" * 10_000_000}": 1}}'), "line 1"),
    json_case(
        "image with five million captions",
        lambda: karpathy(image(",".join(["0"] * 5_000_000))),
        "line 1",
    ),
    json_case(
        "image with two million empty objects",
        lambda: karpathy(image(",".join(["{}"] * 2_000_000))),
        "line 1",
    ),
    json_case(
        "image with 800,000 keys",
        lambda: karpathy(image(GOOD, "".join(f'"{n}": [], ' for n in range(800_000)))),
        "line 1",
    ),
    json_case(
        "200,000 items that are no images", lambda: karpathy(",".join(["0"] * 200_000)), "bad"
    ),
    json_case(
        "100,000 empty images", lambda: karpathy(",".join(["{}"] * 100_000)), "images[0]", "bad"
    ),
    json_case(
        "100,000 annotations of no image",
        lambda: coco("", ",".join(['{"image_id": 1, "caption": "a"}'] * 100_000)),
        format="coco",
    ),
    json_case(
        "annotations that are no annotations",
        lambda: coco("", ",".join(["[]"] * 300_000)),
        "annotations[0]",
        "bad",
        format="coco",
    ),
    json_case("minus signs", lambda: karpathy("-" * 1_000_000), "line 1"),
    json_case("half a million commas", lambda: karpathy("," * 500_000), "line 1", "JSON"),
    Case(
        "bytes that are no text",
        file_of("corpus.json", lambda: b'{"images": ["' + b"\xff" * 2_000_000),
        corpus("karpathy"),
        ("corpus.json", "UTF-8"),
    ),
    json_case("zeros", lambda: "\0" * 5_000_000, "line 1"),
    json_case("white space", lambda: karpathy(" " * 10_000_000 + "x"), "line 1"),
    json_case(
        "caption of a million words",
        lambda: karpathy(image(f'{{"raw": "{"a " * 500_000}"}}')),
        "characters",
    ),
]

CSV = [
    text_case(
        "quote that is never closed",
        lambda: 'image,caption\na.jpg,"A dog\n' + "b.jpg,A cat\n" * 2_000_000,
        "line 2",
        "quote",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "quotes that close only to open again",
        lambda: 'image,caption\na.jpg,"x\n' + '","\n' * 5_000_000,
        "line 2",
        "quote",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "quote in every line",
        lambda: "image,caption\n" + 'a.jpg,"x\n' * 400_000,
        "line 2",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "line of a million commas",
        lambda: "image,caption\n" + "," * 1_000_000,
        "line 2",
        "fields",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "line of 50 MB",
        lambda: "image,caption\na.jpg," + "x" * 50_000_000,
        "line 2",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "header of a million columns",
        lambda: "image,caption," + "a," * 500_000 + "\n",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "lines that are no rows",
        lambda: "image,caption\n" + "x\n" * 3_000_000,
        "line 2",
        "bad",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "width of 5,000 digits",
        lambda: f"image,caption,width,height\na.jpg,A dog,{'9' * 5000},1\n",
        "line 2",
        "width",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "zeros",
        lambda: b"image,caption\n" + b"\0" * 900_000 + b"\n",
        "line 2",
        format="csv",
        file="corpus.csv",
    ),
    text_case(
        "field of a megabyte of quotes",
        lambda: 'image,caption\na.jpg,"' + '""' * 500_000 + '"\n',
        "line 2",
        format="csv",
        file="corpus.csv",
    ),
]

TOKENS = [
    text_case(
        "lines without a tab", lambda: "x\n" * 3_000_000, "line 1", "bad", format="flickr30k"
    ),
    text_case("line of 50 MB", lambda: "a" * 50_000_000, "line 1", format="flickr30k"),
    text_case(
        "label of half a million number signs",
        lambda: "#" * 500_000 + "\tA dog .\n",
        "line 1",
        format="flickr30k",
    ),
    text_case(
        "caption of 400,000 words",
        lambda: "a.jpg#0\t" + "a " * 400_000 + "\n",
        "line 1",
        format="flickr30k",
    ),
    text_case(
        "image with 200,000 captions",
        lambda: "".join(f"a.jpg#{n}\tA .\n" for n in range(200_000)),
        "captions",
        format="flickr30k",
    ),
    text_case(
        "bytes that are no text",
        lambda: b"a.jpg#0\t" + b"\xff" * 900_000,
        "UTF-8",
        format="flickr30k",
    ),
    text_case("empty lines", lambda: "\n" * 10_000_000, "no image", format="flickr30k"),
    Case(
        "captions of one long phrase",
        file_of("captions.txt", lambda: ("man " * 2000 + "\n") * 30),
        mentions,
    ),
    Case(
        "caption of 20 MB for mentions_find",
        file_of("captions.txt", lambda: "man " * 5_000_000),
        mentions,
        ("captions.txt", "line 1"),
    ),
]

CASES = [*JSON, *CSV, *TOKENS]
