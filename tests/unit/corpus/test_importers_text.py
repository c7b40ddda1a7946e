"""Importers of captions in lines and tables."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.corpus.importers import (
    CorpusError,
    read_corpus,
)
from tests.unit.corpus.corpus_files import read, same_folder, texts, write

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
        ("1.jpg#1 A man", "the tab is missing"),
        ("1.jpg\tA man", "“1.jpg” is not a file name with # and a number"),
        ("1.jpg#x\tA man", "“1.jpg#x” is not a file name with # and a number"),
        ("1.jpg#1\t  ", "the caption is empty"),
        ("1.jpg#0\tAgain", "image 1 already has a caption #0"),
        ("0.jpg#1\tBack", "image 0 was listed already, from line 1 on"),
        ("1.png#1\tOther file", "image 1 is called 1.png here but 1.jpg before"),
        ("../1.jpg#1\tA man", "“../1.jpg” is not a safe file name"),
        (".hidden.jpg#1\tA man", "“.hidden.jpg” is not a safe file name"),
        ("#1\tA man", "the file name is missing"),
        ("a" * 201 + "#1\tA man", "has 201 characters; at most 200"),
        ("1.jpg#1\tA\x07man", "the caption contains the control character U+0007"),
        ("1.jpg#1\tA\x00man", "the caption contains the control character U+0000"),
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
        [] if good else [("line 2", f"image 1 has {count} captions; at most 100 are allowed")]
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
            [("", "no images were found; is flickr30k the right format?")],
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
        ("1.jpg,A man, sitting,,,", "the row has 6 fields and the header has 5"),
        ("1.jpg", "the row has 1 fields and the header has 5"),
        ("1.jpg,,,,", "the caption is empty"),
        (",A man,,,", "the file name is missing"),
        ("a/1.jpg,A man,,,", "“a/1.jpg” is not a safe file name"),
        ("1.jpg,A man,dev,,", "“dev” is not a split; use one of: train, val, test"),
        ("1.jpg,A man,test,,", "image 1 is in the split test here but val before"),
        ("1.jpg,A man,,9,", "the height is missing"),
        ("1.jpg,A man,,9,-1", "the height is “-1”"),
        ("1.jpg,A man,,0,1", "the width is “0”"),
        ("1.jpg,A man,,9,9", "image 1 is 9 × 9 here but 5 × 6 before"),
        ("0.jpg,Back,,,", "image 0 was listed already, from line 2 on"),
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
        ("line 3", "a quoted field is never closed or is far too long, up to line 4")
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
