"""Importers of captions in JSON: Karpathy's split files and COCO."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.corpus.importers import (
    CorpusError,
    guess_format,
    read_corpus,
)
from tests.unit.corpus.corpus_files import read, same_folder, texts, write

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
        (7, "", "this is not an image"),
        ({"sentences": [{"raw": "A"}]}, "", "the file name is missing"),
        ({"filename": "0.png", "sentences": [{"raw": "A"}]}, "", "is listed already, at images[0]"),
        ({"filename": "1.jpg", "sentences": []}, "", "image 1 has no caption"),
        ({"filename": "1.jpg"}, "", "image 1 has no caption"),
        ({"filename": "1.jpg", "sentences": "A"}, "", "`sentences` is not a list"),
        ({"filename": "1.jpg", "split": "dev"}, "", "“dev” is not a split"),
        ({"filename": "1.jpg", "split": ["val"]}, "", "is not a split"),
        ({"filename": "..", "sentences": [{"raw": "A"}]}, "", "“..” is not a safe file name"),
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


def test_a_hundred_captions_are_possible(tmp_path: Path) -> None:
    item = {"filename": "1.jpg", "sentences": [{"raw": "A"}] * 100}
    images, problems = read(write(tmp_path, {"images": [item]}), "karpathy")
    assert [len(image.captions) for image in images] == [100]
    assert not problems


def test_bad_karpathy_caption_leaves_the_others(tmp_path: Path) -> None:
    sentences = [{"raw": "A man"}, {"raw": " "}, {"tokens": ["a"]}, 3, {"raw": "A\x00"}]
    item = {"filename": "1.jpg", "sentences": sentences}
    images, problems = read(write(tmp_path, {"images": [item]}), "karpathy")
    assert [texts(image) for image in images] == [["A man"]]
    assert problems == [
        ("images[0].sentences[1]", "the caption is empty"),
        ("images[0].sentences[2]", "the caption text is missing"),
        ("images[0].sentences[3]", "the caption text is missing"),
        ("images[0].sentences[4]", "the caption contains the control character U+0000"),
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
        ("annotations[3]", "image_id must be a whole number or a text, but it is missing"),
        ("annotations[4]", "the caption text is missing"),
        ("annotations[8]", "image_id must be a whole number or a text, but it is “True”"),
        ("annotations[1]", "the caption is empty"),
        ("images[1]", "image id 0 is used already, at images[0]"),
        ("images[2]", "image 0 is listed already, at images[0]"),
        ("images[3]", "image 3 has no caption"),
        (
            "images[4]",
            "the width is “5.5”; give both width and height as whole numbers from 1, or neither",
        ),
        ("images[5]", "id must be a whole number or a text, but it is missing"),
        (
            "images[6]",
            "“a/6.jpg” is not a safe file name: it must start with a letter or digit and "
            "contain only letters, digits, dots, hyphens and underscores",
        ),
        ("annotations[9]", "the caption is empty"),
        ("images[7]", "image 7 has no usable caption"),
        ("images[8]", "id must be a whole number or a text, but it is missing"),
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
            b'{"names": [' + b'"man",\n' * 50_000 + b"x]}",
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
