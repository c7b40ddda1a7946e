import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.pipeline.geometry import Rect
from annotation.pipeline.importers import (
    FORMATS,
    CorpusError,
    CorpusImage,
    Problem,
    guess_format,
    read_corpus,
)
from annotation.pipeline.mentions import Mention
from annotation.pipeline.release import (
    Phrase,
    ReleasedBox,
    ReleasedImage,
    Sentence,
    UnboxedChain,
    write_image,
    write_splits,
    write_unrelated,
)

# The same folder serves all examples of a property: every example writes its file anew.
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, content: str | bytes | object, name: str = "corpus") -> Path:
    path = folder / name
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def read(path: Path, format: str) -> tuple[list[CorpusImage], list[tuple[str, str]]]:
    """Return the images, and the problems' places and reasons."""
    images: list[CorpusImage] = []
    problems: list[tuple[str, str]] = []
    for item in read_corpus(path, format):
        if isinstance(item, Problem):
            assert item.file.startswith(str(path))
            problems.append((item.place, item.why))
        else:
            images.append(item)
    return images, problems


def texts(image: CorpusImage) -> list[str]:
    assert [caption.number for caption in image.captions] == [*range(1, len(image.captions) + 1)]
    return [caption.text for caption in image.captions]


# Token files


def test_token_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "\ufeff1.jpg#0\tTwo  men 's hats .\r\n1.jpg#1\tA [ odd ] one [sic]\n\n"
        "b-2.PNG#4\tDon't split\n",
    )
    images, problems = read(path, "flickr30k")
    assert problems == []
    assert [(image.name, image.filename) for image in images] == [
        ("1", "1.jpg"),
        ("b-2", "b-2.PNG"),
    ]
    assert texts(images[0]) == ["Two men 's hats .", "A -LSB- odd -RSB- one -LSB-sic-RSB-"]
    assert texts(images[1]) == ["Don't split"]
    assert images[0].mentions is None
    assert (images[0].width, images[0].height, images[0].split) == (0, 0, "")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1.jpg#1 A man", "there is no tab"),
        ("1.jpg\tA man", "“1.jpg” is no file name with # and a number"),
        ("1.jpg#x\tA man", "“1.jpg#x” is no file name with # and a number"),
        ("1.jpg#1\t  ", "the caption is empty"),
        ("1.jpg#0\tAgain", "image 1 has a caption #0 already"),
        ("0.jpg#1\tBack", "image 0 comes back: it began at line 1"),
        ("1.png#1\tOther file", "image 1 is called 1.png here and 1.jpg before"),
        ("../1.jpg#1\tA man", "“../1.jpg” is no safe file name"),
        (".hidden.jpg#1\tA man", "“.hidden.jpg” is no safe file name"),
        ("#1\tA man", "there is no file name"),
        ("a" * 201 + "#1\tA man", "has 201 characters; at most 200"),
        ("1.jpg#1\tA\x07man", "the caption holds the control character U+0007"),
        ("1.jpg#1\tA\x00man", "the caption holds the control character U+0000"),
        ("1.jpg#1\t" + "a " * 2001, "the caption has 2,001 tokens; at most 2,000"),
        ("1.jpg#1\t" + "a" * 40_001, "the caption has 40,001 characters; at most 40,000"),
    ],
)
def test_bad_token_line(tmp_path: Path, line: str, why: str) -> None:
    path = write(tmp_path, f"0.jpg#0\tZero\n1.jpg#0\tOne\n{line}\n1.jpg#9\tNine\n")
    images, problems = read(path, "flickr30k")
    assert [(image.name, texts(image)) for image in images] == [
        ("0", ["Zero"]),
        ("1", ["One", "Nine"]),
    ]
    ((place, reason),) = problems
    assert place == "line 3"
    assert why in reason


def test_problem_names_file_line_and_reason(tmp_path: Path) -> None:
    path = write(tmp_path, "1.jpg#0\tA man\n1.jpg#1\t\n")
    problem = next(read_corpus(path, "flickr30k"))
    assert str(problem) == f"{path}, line 2: the caption is empty"


@pytest.mark.parametrize(("count", "good"), [(100, True), (101, False), (250, False)])
def test_most_captions(tmp_path: Path, count: int, good: bool) -> None:
    lines = "".join(f"1.jpg#{number}\tA man\n" for number in range(count))
    images, problems = read(write(tmp_path, "0.jpg#0\tA\n" + lines + "2.jpg#0\tB\n"), "flickr30k")
    assert [image.name for image in images] == (["0", "1", "2"] if good else ["0", "2"])
    assert problems == (
        [] if good else [("line 2", f"image 1 has {count} captions; at most 100 are possible")]
    )


def test_caption_of_most_tokens_is_accepted(tmp_path: Path) -> None:
    images, problems = read(write(tmp_path, "1.jpg#0\t" + "a " * 2000), "flickr30k")
    assert (len(images[0].captions[0].tokens), problems) == (2000, [])


caption_lines = st.one_of(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])),
    st.tuples(
        st.sampled_from(["a.jpg", "b.jpg", "b.png", "c", "../x"]),
        st.sampled_from(["#", ""]),
        st.integers(0, 3),
        st.sampled_from(["\t", " "]),
        st.sampled_from(["A man", "", " \r", "[ x", "\x01"]),
    ).map(lambda parts: "".join(map(str, parts))),
)


@same_folder
@given(lines=st.lists(caption_lines, max_size=12))
def test_every_token_line_is_a_caption_or_a_problem(tmp_path: Path, lines: list[str]) -> None:
    path = write(tmp_path, "\n".join(lines))
    images, problems = read(path, "flickr30k")
    if not any(line.removeprefix("\ufeff").strip() for line in lines):
        assert (images, problems) == (
            [],
            [("", "no image was found, reading it as format flickr30k")],
        )
        return
    bad = {int(place.removeprefix("line ")) for place, _ in problems}
    assert len(bad) == len(problems)
    content = [line.removeprefix("\ufeff") if n == 0 else line for n, line in enumerate(lines)]
    kept = [
        line.partition("\t")[2].replace("[", "-LSB-").replace("]", "-RSB-").split()
        for number, line in enumerate(content, start=1)
        if number not in bad and line.strip()
    ]
    assert [list(c.tokens) for image in images for c in image.captions] == kept
    assert len({image.name for image in images}) == len(images)


# CSV


def test_csv(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "\ufeffImage,note,caption,split,width,height\r\n"
        '1.jpg,x,"A man, who says ""hi"", isn\'t\nhere.",val,500,375\r\n'
        "1.jpg,,A dog,,,\r\n\r\n2.jpg,,A cat,,,\r\n",
    )
    images, problems = read(path, "csv")
    assert problems == []
    assert texts(images[0]) == ['A man , who says " hi " , is n\'t here .', "A dog"]
    assert (images[0].split, images[0].width, images[0].height) == ("val", 500, 375)
    assert (images[1].name, images[1].split, images[1].width) == ("2", "", 0)


def test_csv_with_tabs(tmp_path: Path) -> None:
    images, problems = read(write(tmp_path, "caption\timage\nA man, sitting\t1.jpg\n"), "csv")
    assert (texts(images[0]), problems) == (["A man , sitting"], [])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("1.jpg,A man, sitting,,,", "the row has 6 fields and the header 5"),
        ("1.jpg", "the row has 1 fields and the header 5"),
        ("1.jpg,,,,", "the caption is empty"),
        (",A man,,,", "there is no file name"),
        ("a/1.jpg,A man,,,", "“a/1.jpg” is no safe file name"),
        ("1.jpg,A man,dev,,", "“dev” is no split; they are train, val, test"),
        ("1.jpg,A man,test,,", "image 1 is in the split test here and val before"),
        ("1.jpg,A man,,9,", "the height is missing"),
        ("1.jpg,A man,,9,-1", "the height is “-1”"),
        ("1.jpg,A man,,0,1", "the width is “0”"),
        ("1.jpg,A man,,9,9", "image 1 is 9 × 9 here and 5 × 6 before"),
        ("0.jpg,Back,,,", "image 0 comes back: it began at line 2"),
        ('1.jpg,"A "man",,,', "there is text after a closing quote"),
        ("1.jpg,A\rman,,,", "there is a carriage return inside a field without quotes"),
        ("1.jpg," + "a" * 140_000 + ",,,", "is far too long"),
    ],
)
def test_bad_csv_row(tmp_path: Path, row: str, why: str) -> None:
    path = write(
        tmp_path,
        "image,caption,split,width,height\n"
        f'0.jpg,"Ze\nro",,,\n1.jpg,One,val,5,6\n{row}\n1.jpg,Two,,5,6\n',
    )
    images, problems = read(path, "csv")
    assert [(image.name, texts(image)) for image in images] == [
        ("0", ["Ze ro"]),
        ("1", ["One", "Two"]),
    ]
    ((place, reason),) = problems
    assert place == "line 5"
    assert why in reason


def test_csv_quote_that_is_never_closed(tmp_path: Path) -> None:
    path = write(tmp_path, 'image,caption\n1.jpg,One\n1.jpg,"Two\n1.jpg,Three\n')
    images, problems = read(path, "csv")
    assert texts(images[0]) == ["One"]
    assert problems == [
        ("line 3", "a quoted field is never closed, or is far too long, up to line 4")
    ]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("picture,caption", "the header has no column image;"),
        ("image_name| comment", "the header has no column image and no column caption;"),
        ("", "the header has no column image and no column caption;"),
        ("image,caption,Caption", "the header has the column caption more than once"),
    ],
)
def test_bad_csv_header(tmp_path: Path, header: str, why: str) -> None:
    path = write(tmp_path, header + "\n1.jpg,A man\n")
    with pytest.raises(CorpusError, match=why) as error:
        list(read_corpus(path, "csv"))
    assert str(error.value).startswith(f"{path}, line 1: ")


@same_folder
@given(
    content=st.text(st.one_of(st.sampled_from('a.,"\n\r\t'), st.characters(codec="utf-8"))),
    delimiter=st.sampled_from(",\t"),
)
def test_any_csv_text_is_read(tmp_path: Path, content: str, delimiter: str) -> None:
    path = write(tmp_path, f"image{delimiter}caption\n{content}\nz.jpg{delimiter}Last\n")
    images, problems = read(path, "csv")
    assert images or problems
    assert all(place.startswith("line ") for place, _ in problems)
    assert all(image.captions for image in images)


# Karpathy's split files


def test_karpathy(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "dataset": "flickr30k",
            "images": [
                {
                    "filename": "1.jpg",
                    "imgid": 0,
                    "split": "restval",
                    "sentences": [
                        {"raw": "A man's dog.", "tokens": ["a", "mans", "dog"]},
                        {"raw": "Two [ dogs ]\n"},
                    ],
                },
                {"filename": "2.jpg", "split": "test", "sentences": [{"raw": "A café"}]},
            ],
        },
    )
    images, problems = read(path, "karpathy")
    assert problems == []
    assert texts(images[0]) == ["A man 's dog .", "Two -LSB- dogs -RSB-"]
    assert [(image.name, image.split) for image in images] == [("1", "train"), ("2", "test")]
    assert texts(images[1]) == ["A café"]


@pytest.mark.parametrize(
    ("item", "place", "why"),
    [
        (7, "", "this is no image"),
        ({"sentences": [{"raw": "A"}]}, "", "there is no file name"),
        ({"filename": "0.png", "sentences": [{"raw": "A"}]}, "", "is there already, at images[0]"),
        ({"filename": "1.jpg", "sentences": []}, "", "image 1 has no caption"),
        ({"filename": "1.jpg"}, "", "image 1 has no caption"),
        ({"filename": "1.jpg", "sentences": "A"}, "", "its sentences are no list"),
        ({"filename": "1.jpg", "split": "dev"}, "", "“dev” is no split"),
        ({"filename": "1.jpg", "split": ["val"]}, "", "is no split"),
        ({"filename": "..", "sentences": [{"raw": "A"}]}, "", "“..” is no safe file name"),
        (
            {"filename": "1.jpg", "sentences": [{"raw": "A"}] * 101},
            "",
            "image 1 has 101 captions; at most 100",
        ),
    ],
)
def test_bad_karpathy_image(tmp_path: Path, item: object, place: str, why: str) -> None:
    good = {"filename": "0.jpg", "sentences": [{"raw": "Zero"}]}
    last = {"filename": "9.jpg", "sentences": [{"raw": "Nine"}]}
    images, problems = read(write(tmp_path, {"images": [good, item, last]}), "karpathy")
    assert [image.name for image in images] == ["0", "9"]
    ((found, reason),) = problems
    assert found == "images[1]" + place
    assert why in reason


def test_bad_karpathy_caption_leaves_the_others(tmp_path: Path) -> None:
    sentences = [{"raw": "A man"}, {"raw": " "}, {"tokens": ["a"]}, 3, {"raw": "A\x00"}]
    item = {"filename": "1.jpg", "sentences": sentences}
    images, problems = read(write(tmp_path, {"images": [item]}), "karpathy")
    assert [texts(image) for image in images] == [["A man"]]
    assert problems == [
        ("images[0].sentences[1]", "the caption is empty"),
        ("images[0].sentences[2]", "there is no caption text"),
        ("images[0].sentences[3]", "there is no caption text"),
        ("images[0].sentences[4]", "the caption holds the control character U+0000"),
    ]


# COCO captions


def test_coco(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "annotations": [
                {"image_id": 7, "id": 1, "caption": "A dog.\n"},
                {"image_id": "x", "caption": "A cat"},
                {"image_id": 7, "id": 2, "caption": "Two dogs"},
            ],
            "images": [
                {"id": "x", "file_name": "x.webp"},
                {
                    "id": 7,
                    "file_name": "COCO_val2014_000000000007.jpg",
                    "width": 640,
                    "height": 480,
                },
            ],
        },
    )
    images, problems = read(path, "coco")
    assert problems == []
    assert [(image.name, image.width, image.height) for image in images] == [
        ("x", 0, 0),
        ("COCO_val2014_000000000007", 640, 480),
    ]
    assert [texts(image) for image in images] == [["A cat"], ["A dog .", "Two dogs"]]


def test_bad_coco_items(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "images": [
                {"id": 0, "file_name": "0.jpg"},
                {"id": 0, "file_name": "1.jpg"},
                {"id": 2, "file_name": "0.jpg"},
                {"id": 3, "file_name": "3.jpg"},
                {"id": 4, "file_name": "4.jpg", "width": 5.5, "height": 4},
                {"file_name": "5.jpg"},
                {"id": 6, "file_name": "a/6.jpg"},
                {"id": 7, "file_name": "7.jpg"},
                "eight",
            ],
            "annotations": [
                {"image_id": 0, "caption": "Zero"},
                {"image_id": 0, "caption": ""},
                {"image_id": 99, "caption": "Unknown"},
                {"caption": "Nobody's"},
                {"image_id": 0},
                {"image_id": 4, "caption": "Four"},
                {"image_id": 6, "caption": "Six"},
                {"image_id": 2, "caption": "Two"},
                {"image_id": True, "caption": "True"},
                {"image_id": 7, "caption": " "},
            ],
        },
    )
    images, problems = read(path, "coco")
    assert [(image.name, texts(image)) for image in images] == [("0", ["Zero"])]
    assert problems == [
        ("annotations[3]", "image_id must be a whole number or a text; there is none"),
        ("annotations[4]", "there is no caption text"),
        ("annotations[8]", "image_id must be a whole number or a text; this is “True”"),
        ("annotations[1]", "the caption is empty"),
        ("images[1]", "image id 0 is there already, at images[0]"),
        ("images[2]", "image 0 is there already, at images[0]"),
        ("images[3]", "image 3 has no caption"),
        (
            "images[4]",
            "the width is “5.5”; width and height must both be whole numbers from 1, or neither",
        ),
        ("images[5]", "id must be a whole number or a text; there is none"),
        (
            "images[6]",
            "“a/6.jpg” is no safe file name: it must start with a letter or digit and hold only "
            "letters, digits, dots, hyphens and underscores",
        ),
        ("annotations[9]", "the caption is empty"),
        ("images[7]", "image 7 has no caption that can be used"),
        ("images[8]", "id must be a whole number or a text; there is none"),
        ("annotations[2]", "there is no image with id 99"),
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["id", "image_id", "file_name", "filename", "caption", "sentences", "raw", "split"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)


@settings(same_folder, max_examples=40)
@given(images=json_values, annotations=json_values, format=st.sampled_from(["coco", "karpathy"]))
def test_any_json_is_read(tmp_path: Path, images: object, annotations: object, format: str) -> None:
    path = write(tmp_path, {"images": images, "annotations": annotations})
    found, problems = read(path, format)
    assert found or problems
    if isinstance(images, list):
        places = {place for place, _ in problems}
        wrong = sum(f"images[{position}]" in places for position in range(len(images)))
        assert len(found) + wrong == len(images)


@pytest.mark.parametrize("format", ["coco", "karpathy"])
@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b'{"images": [\n  1,, 2]}', r", line 2, column 5: this is not valid JSON: .+"),
        (b'{"images": [\n  1, 2', r": this is not valid JSON: the file ends too early"),
        (b"", r": this is not valid JSON: the file ends too early"),
        (b'{"images": [\n\n"caf\xe9"]}', r", line 3: this is not UTF-8 text"),
        (b'{"images": []}\n x', r", line 2, column 2: this is not valid JSON: trailing garbage"),
        (
            b'{"images": [' + b'"man",\n' * 50_000 + b"x]}",
            r", line 50001, column 1: this is not valid JSON: .+",
        ),
    ],
)
def test_malformed_json(tmp_path: Path, format: str, content: bytes, where: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(CorpusError, match=rf"corpus{where}$"):
        list(read_corpus(path, format))


def test_json_with_byte_order_mark(tmp_path: Path) -> None:
    content = '\ufeff{"images": [{"filename": "1.jpg", "sentences": [{"raw": "A"}]}]}'
    path = write(tmp_path, content)
    assert guess_format(path) == "karpathy"
    assert [image.name for image in read(path, "karpathy")[0]] == ["1"]


# Entities directories


def make_release(folder: Path) -> Path:
    for name in ("1", "2", "3"):
        write_image(
            folder,
            ReleasedImage(
                image=name,
                filename=f"{name}.png",
                width=50,
                height=40,
                depth=1,
                sentences=(
                    Sentence(("A", "man", "sits"), (Phrase(0, 2, ("people",), 8),)),
                    Sentence(("It", "rains"), (Phrase(0, 1, ("notvisual",), 0),)),
                ),
                boxes=(ReleasedBox((8,), Rect(1, 1, 9, 9)),),
                unboxed=(UnboxedChain(9, scene=True, nobndbox=False),),
            ),
        )
    write_splits(folder, {"train": ["3", "1"], "val": ["2"]})
    write_unrelated(folder, {"2": [2]})
    return folder


def test_entities(tmp_path: Path) -> None:
    images = list(read_corpus(make_release(tmp_path), "entities", with_annotation=True))
    assert all(isinstance(image, CorpusImage) for image in images)
    third, _, second = (image for image in images if isinstance(image, CorpusImage))
    assert (third.name, third.filename, third.split) == ("3", "3.png", "train")
    assert (second.name, second.split) == ("2", "val")
    assert (third.width, third.height, third.depth) == (50, 40, 1)
    assert texts(third) == ["A man sits", "It rains"]
    assert third.mentions == (
        Mention(1, 1, 0, 2, ("people",)),
        Mention(2, 2, 0, 1, ("notvisual",)),
    )
    assert third.annotation is not None
    assert [chain.mentions for chain in third.annotation.chains] == [(1,), ()]
    assert third.annotation.boxes[0].rect == Rect(1, 1, 9, 9)
    assert third.annotation.unrelated == ()
    assert second.annotation is not None
    assert second.annotation.unrelated == (2,)


def test_entities_without_annotation(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    (folder / "Annotations" / "1.xml").unlink()
    (folder / "Annotations" / "2.xml").write_text("nonsense")
    images, problems = read(folder, "entities")
    assert problems == []
    assert [(image.name, image.filename, image.width) for image in images] == [
        ("3", "3.png", 50),
        ("1", "1.jpg", 0),
        ("2", "2.jpg", 0),
    ]
    assert all(image.annotation is None and image.mentions for image in images)


def test_entities_with_bad_files(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    (folder / "Annotations" / "1.xml").unlink()
    (folder / "Sentences" / "3.txt").write_text("A man\nA [/EN#1/people dog\n")
    write_unrelated(folder, {"2": [3]})
    items = list(read_corpus(folder, "entities", with_annotation=True))
    assert items == [
        Problem(
            str(folder / "Sentences" / "3.txt"),
            "line 2",
            "the phrase “[/EN#1/people” is never closed",
        ),
        Problem(str(folder / "Annotations" / "1.xml"), "", "the file is missing"),
        Problem(
            str(folder / "Sentences" / "2.txt"),
            "",
            "UNRELATED_CAPTIONS names caption 3, but there are 2",
        ),
    ]


@pytest.mark.parametrize(
    ("content", "place", "why"),
    [
        ("A man\nA\x01man\n", "line 2", "the caption holds the control character U+0001"),
        ("A " * 2000 + "man\n", "line 1", "the caption has 2,001 tokens"),
        ("A man\n" * 101, "", "image 1 has 101 captions"),
        ("", "", "the file holds no caption"),
    ],
)
def test_entities_captions_are_checked(tmp_path: Path, content: str, place: str, why: str) -> None:
    (tmp_path / "Sentences").mkdir()
    (tmp_path / "Sentences" / "1.txt").write_text(content)
    images, [(found, reason)] = read(tmp_path, "entities")
    assert (images, found) == ([], place)
    assert why in reason


def test_entities_with_bad_split_file(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    (folder / "val.txt").write_text("2\n3\n")
    with pytest.raises(CorpusError, match=r"val\.txt, line 2: image 3 is listed already"):
        list(read_corpus(folder, "entities"))


# All formats


@pytest.mark.parametrize("format", FORMATS)
def test_missing_file(tmp_path: Path, format: str) -> None:
    with pytest.raises(CorpusError, match=r"nowhere: (there is no such file|this is no release)"):
        list(read_corpus(tmp_path / "nowhere", format))


@pytest.mark.parametrize("format", ["flickr30k", "karpathy", "coco", "csv"])
def test_folder_in_place_of_a_file(tmp_path: Path, format: str) -> None:
    with pytest.raises(CorpusError, match="this is a folder, not a file"):
        list(read_corpus(tmp_path, format))


@pytest.mark.parametrize(
    ("format", "start"), [("flickr30k", b"1.jpg#0\tA\n"), ("csv", b"image,caption\n")]
)
def test_text_that_is_not_utf8_or_has_no_lines(tmp_path: Path, format: str, start: bytes) -> None:
    with pytest.raises(CorpusError, match="corpus, line 2: this is not UTF-8 text"):
        list(read_corpus(write(tmp_path, start + b"1.jpg#0\tcaf\xe9\n"), format))
    with pytest.raises(CorpusError, match="corpus, line 2: the line is longer than a megabyte"):
        list(read_corpus(write(tmp_path, start + b"a" * (2**20 + 1)), format))


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("flickr30k", "\n"),
        ("csv", "image,caption\n"),
        ("karpathy", "{}"),
        ("karpathy", '{"images": {"a": 1}}'),
        ("coco", '{"images": [], "annotations": []}'),
    ],
)
def test_nothing_to_import_is_a_problem(tmp_path: Path, format: str, content: str) -> None:
    assert read(write(tmp_path, content), format) == (
        [],
        [("", f"no image was found, reading it as format {format}")],
    )


def test_formats_that_are_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, "1.jpg#0\tA\n")
    with pytest.raises(CorpusError, match="there is no format “vg”; the formats are flickr30k, "):
        read_corpus(path, "vg")
    with pytest.raises(CorpusError, match="the format flickr30k has no chains and boxes"):
        read_corpus(path, "flickr30k", with_annotation=True)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("results.token", "bad line\n1.jpg#0\tA man\n", "flickr30k"),
        ("a.csv", "anything", "csv"),
        ("a.TSV", "anything", "csv"),
        ("captions.txt", "image,caption\n1.jpg,A man\n", "csv"),
        ("a.json", '{"images": [{"a": {"annotations": 1}, "sentences": []}]}', "karpathy"),
        ("a", '\n {"info": {}, "images": [{"id": 1}], "annotations": []}', "coco"),
        ("b", '{"annotations": [], "images": [{"sentences": 1}]}', "coco"),
    ],
)
def test_guess_format(tmp_path: Path, name: str, content: str, format: str) -> None:
    assert guess_format(write(tmp_path, content, name)) == format


def test_guess_entities(tmp_path: Path) -> None:
    assert guess_format(make_release(tmp_path)) == "entities"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", "A man\n"), ("a.txt", ""), ("a.json", '{"images": []}'), ("a.json", "[1]")],
)
def test_unknown_format_names_the_option(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, content, name)
    with pytest.raises(CorpusError, match="not clear") as error:
        guess_format(path)
    assert "--format, one of flickr30k, karpathy, coco, csv, entities" in str(error.value)
    with pytest.raises(CorpusError, match="the folder has no Sentences"):
        guess_format(tmp_path)


@pytest.mark.parametrize("name", ["nowhere", "nowhere.csv", "nowhere.json"])
def test_guess_format_of_a_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match="there is no such file"):
        guess_format(tmp_path / name)
