import pickle
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.geometry import Rect
from annotation.pipeline.release.folder import (
    Phrase,
    ReleasedBox,
    ReleasedImage,
    ReleaseError,
    Sentence,
    UnboxedChain,
    format_annotation,
    format_sentence,
    image_ids,
    parse_annotation,
    parse_sentence,
    read_image,
    read_release,
    read_sentences,
    read_splits,
    read_unrelated,
    write_image,
    write_splits,
    write_unrelated,
)
from tests.unit.release.releases import released_images, sentences

LINE = "[/EN#1/people Two men] near [/EN#0/notvisual it] and [/EN#42/vehicles/scene a train] ."
SENTENCE = Sentence(
    ("Two", "men", "near", "it", "and", "a", "train", "."),
    (
        Phrase(0, 2, ("people",), 1),
        Phrase(3, 4, ("notvisual",), 0),
        Phrase(5, 7, ("vehicles", "scene"), 42),
    ),
)
IMAGE = ReleasedImage(
    image="36979",
    filename="36979.jpg",
    width=500,
    height=375,
    depth=3,
    sentences=(SENTENCE,),
    boxes=(ReleasedBox((42, 1), Rect(1, 2, 500, 375)), ReleasedBox((1,), Rect(7, 7, 7, 7))),
    unboxed=(UnboxedChain(5, scene=True, nobndbox=False),),
)
XML = """<annotation>
\t<filename>36979.jpg</filename>
\t<size>
\t\t<width>500</width>
\t\t<height>375</height>
\t\t<depth>3</depth>
\t</size>
\t<object>
\t\t<name>42</name>
\t\t<name>1</name>
\t\t<bndbox>
\t\t\t<xmin>1</xmin>
\t\t\t<ymin>2</ymin>
\t\t\t<xmax>500</xmax>
\t\t\t<ymax>375</ymax>
\t\t</bndbox>
\t</object>
\t<object>
\t\t<name>1</name>
\t\t<bndbox>
\t\t\t<xmin>7</xmin>
\t\t\t<ymin>7</ymin>
\t\t\t<xmax>7</xmax>
\t\t\t<ymax>7</ymax>
\t\t</bndbox>
\t</object>
\t<object>
\t\t<name>5</name>
\t\t<scene>1</scene>
\t\t<nobndbox>0</nobndbox>
\t</object>
</annotation>"""


def release_with(directory: Path, *images: ReleasedImage) -> Path:
    for image in images:
        write_image(directory, image)
    return directory


def annotation_problem(xml: str) -> ReleaseError | None:
    try:
        parse_annotation(xml)
    except ReleaseError as error:
        return error
    return None


def test_a_sentence_is_read_and_written() -> None:
    assert parse_sentence(LINE) == SENTENCE
    assert format_sentence(SENTENCE) == LINE


def test_an_annotation_is_read_and_written() -> None:
    annotation = parse_annotation(XML)
    assert (annotation.filename, annotation.width, annotation.height, annotation.depth) == (
        "36979.jpg",
        500,
        375,
        3,
    )
    assert annotation.boxes == IMAGE.boxes
    assert annotation.unboxed == IMAGE.unboxed
    assert format_annotation(IMAGE) == XML


def test_a_final_line_end_is_accepted() -> None:
    assert parse_annotation(XML + "\n") == parse_annotation(XML)


@given(sentence=sentences())
@settings(deadline=None)
def test_any_sentence_comes_back(sentence: Sentence) -> None:
    assert parse_sentence(format_sentence(sentence)) == sentence


@given(image=released_images())
@settings(max_examples=60, deadline=None)
def test_any_annotation_comes_back(image: ReleasedImage) -> None:
    xml = format_annotation(image)
    annotation = parse_annotation(xml)
    # An empty line is unusual, so this one is read line by line.
    assert parse_annotation("\n" + xml) == annotation
    for field in annotation.__struct_fields__:
        assert getattr(annotation, field) == getattr(image, field)


@given(image=released_images())
@settings(max_examples=30, deadline=None)
def test_any_image_comes_back_from_its_files(
    tmp_path_factory: pytest.TempPathFactory, image: ReleasedImage
) -> None:
    directory = tmp_path_factory.mktemp("release")
    write_image(directory, image)
    assert read_image(directory, image.image) == image
    assert list(read_release(directory)) == [image]


@given(image=released_images(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_damaged_file_is_read_or_refused_with_its_line(
    image: ReleasedImage, data: st.DataObject
) -> None:
    xml = format_annotation(image)
    cut = data.draw(st.integers(0, len(xml) - 1))
    damaged = (
        xml[:cut] + data.draw(st.sampled_from(["", "<", "x", "\n", "9", "&"])) + xml[cut + 1 :]
    )
    problem = annotation_problem(damaged)
    if problem is not None:
        assert problem.line in range(1, damaged.count("\n") + 2)


def test_a_moved_box_changes_its_lines_only() -> None:
    moved = msgspec.structs.replace(IMAGE.boxes[1], rect=Rect(7, 8, 9, 9))
    after = format_annotation(msgspec.structs.replace(IMAGE, boxes=(IMAGE.boxes[0], moved)))
    pairs = list(zip(XML.split("\n"), after.split("\n"), strict=True))
    assert [(old.strip(), new.strip()) for old, new in pairs if old != new] == [
        ("<ymin>7</ymin>", "<ymin>8</ymin>"),
        ("<xmax>7</xmax>", "<xmax>9</xmax>"),
        ("<ymax>7</ymax>", "<ymax>9</ymax>"),
    ]


def test_unusual_white_space_of_an_object_is_kept() -> None:
    edited = XML.replace("\t\t<scene>", "\t\t\t<scene>").replace("\t\t<xmin>7<", "    <xmin>7<")
    annotation = parse_annotation(edited)
    assert annotation.boxes[0].indents is None
    assert annotation.boxes[1].rect == IMAGE.boxes[1].rect
    assert annotation.boxes[1].indents is not None
    assert annotation.unboxed[0].indents == ("\t", "\t\t", "\t\t\t", "\t\t", "\t")
    image = msgspec.structs.replace(IMAGE, boxes=annotation.boxes, unboxed=annotation.unboxed)
    assert format_annotation(image) == edited


def test_indents_that_no_longer_fit_are_dropped() -> None:
    box = ReleasedBox((42, 1), IMAGE.boxes[0].rect, indents=(" ",) * 9)
    assert format_annotation(msgspec.structs.replace(IMAGE, boxes=(box, IMAGE.boxes[1]))) == XML


def test_indents_must_be_white_space() -> None:
    box = UnboxedChain(5, True, False, indents=("\t", "<x>", "", "", ""))
    with pytest.raises(ReleaseError, match="spaces and tabs"):
        format_annotation(msgspec.structs.replace(IMAGE, unboxed=(box,)))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "caption is empty"),
        (" a man", "before its first"),
        ("a  man", "more than one space"),
        ("a\tman", "white space other than"),
        ("a\u00a0man", "white space other than"),
        ("[/EN#1/people a man", "is never closed"),
        ("a man] .", "never opened"),
        ("[/EN#1/people a [/EN#2/people man] ]", "inside"),
        ("[/EN#1/people a] man]", "never opened"),
        ("[/EN#1/people a ]", "space before its closing bracket"),
        ("[/EN#1/people ]", "has no words"),
        ("[/EN#1/people] man", "has no words"),
        ("[/EN#1 man]", "has no type"),
        ("[/EN#1/ man]", "has no type"),
        ("[/EN#x/people man]", "chain id “x”.* is not a number"),
        ("[/EN#/people man]", "is not a number"),
        ("[/EN#-1/people man]", "is not a number"),
        ("[/EN#01/people man]", "is not a number"),
        ("[/EN#١/people man]", "is not a number"),
        (f"[/EN#{'9' * 5000}/people man]", "is not a number"),
        ("[/EN#1/poeple man]", "“poeple” is not an entity type"),
        ("[/EN#1/people/people man]", "names a type twice"),
        ("[/EN#1/people//scene man]", "empty type"),
        ("[/EN#1/notvisual man]", "must be 0"),
        ("[/EN#0/people man]", "for notvisual only"),
        ("[/EN#0/notvisual/people man]", "both notvisual and"),
        ("[man] .", "without a phrase's mark"),
        ("a[b man", "bracket inside a word"),
        ("[/EN#1/people m]an] .", "bracket inside a word"),
        ("[/EN#1/pe[ople man] .", "bracket inside a word"),
    ],
)
def test_a_bad_sentence_says_why(line: str, why: str) -> None:
    with pytest.raises(ReleaseError, match=why):
        parse_sentence(line)


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        (Sentence((), ()), "empty"),
        (Sentence(("a", ""), ()), "an empty word"),
        (Sentence(("a b",), ()), "white space"),
        (Sentence(("a\n",), ()), "white space"),
        (Sentence(("[a",), ()), "bracket"),
        (Sentence(("a]",), ()), "bracket"),
        (Sentence(("\ud800",), ()), "UTF-8"),
        (Sentence(("a",), (Phrase(0, 0, ("people",), 1),)), "empty, overlaps"),
        (Sentence(("a",), (Phrase(0, 2, ("people",), 1),)), "leaves the caption"),
        (Sentence(("a",), (Phrase(0, 1, ("people",), 1),) * 2), "overlaps"),
        (Sentence(("a",), (Phrase(0, 1, (), 1),)), "has no type"),
        (Sentence(("a",), (Phrase(0, 1, ("cat",), 1),)), "not an entity type"),
        (Sentence(("a",), (Phrase(0, 1, ("people",), 0),)), "notvisual only"),
        (Sentence(("a",), (Phrase(0, 1, ("people",), -1),)), "not a chain id"),
    ],
)
def test_a_sentence_that_could_not_be_read_back_is_not_written(
    sentence: Sentence, why: str
) -> None:
    with pytest.raises(ReleaseError, match=why):
        format_sentence(sentence)


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        (XML, "", 1, "ends where <annotation> is expected"),
        ("<annotation>", "<annotations>", 1, "expected <annotation>"),
        ("36979.jpg", "", 2, "not a plain file name"),
        ("36979.jpg", "../36979.jpg", 2, "not a plain file name"),
        ("36979.jpg", "a&lol;.jpg", 2, "escape other than"),
        ("36979.jpg", "a & b.jpg", 2, "escape other than"),
        ("\t<size>\n", "", 3, "expected <size>, found “<width>500</width>”"),
        ("<width>500</width>", "<width>0</width>", 4, "not a number of pixels"),
        ("<width>500</width>", "<width>5e2</width>", 4, "“5e2” in <width> is not a number"),
        ("\t\t<depth>3</depth>\n", "", 6, "expected <depth>"),
        ("\t\t<name>42</name>\n\t\t<name>1</name>\n", "", 8, "has no <name>"),
        ("<name>42</name>", "<name>x</name>", 9, "chain id “x” in <name> is not a number"),
        ("<name>42</name>", "<name>0</name>", 10, "0 is not a chain id"),
        ("<name>42</name>", "<name>1</name>", 10, "names a chain twice: 1, 1"),
        ("<xmax>500</xmax>", "<xmax>501</xmax>", 15, "outside the 500×375 image"),
        ("<xmin>1</xmin>", "<xmin>0</xmin>", 15, "outside"),
        ("<xmin>1</xmin>", "<xmin>-1</xmin>", 12, "is not a number"),
        ("<ymax>7</ymax>", "<ymax>6</ymax>", 24, "ends before it starts"),
        ("\t\t\t<ymin>2</ymin>\n", "", 13, "expected <ymin>"),
        ("<scene>1</scene>", "<scene>2</scene>", 29, "must be 0 or 1"),
        ("\t\t<scene>1</scene>\n", "", 29, "expected <scene>"),
        ("<name>5</name>", "<name>5</name>\n\t\t<name>6</name>", 29, "several <name>s"),
        ("\n</annotation>", "", 31, "the file ends where </annotation> is expected"),
        ("</annotation>", "</annotation>\n<annotation>", 33, "more after"),
        ("\t<object>", "\t<!-- a -->\n\t<object>", 8, "not accepted"),
    ],
)
def test_a_bad_annotation_says_where_and_why(old: str, new: str, line: int, why: str) -> None:
    with pytest.raises(ReleaseError, match=why) as caught:
        parse_annotation(XML.replace(old, new, 1))
    assert caught.value.line == line


@pytest.mark.parametrize("side", ["width", "height", "depth"])
def test_an_image_without_objects_has_a_size_too(side: str) -> None:
    bare = format_annotation(msgspec.structs.replace(IMAGE, boxes=(), unboxed=()))
    assert parse_annotation(bare).boxes == ()
    with pytest.raises(ReleaseError, match="not a number of pixels"):
        parse_annotation(re.sub(rf"<{side}>\d+<", f"<{side}>0<", bare))


def test_entities_are_never_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">\n' for n in range(10))
    bomb = f'<?xml version="1.0"?>\n<!DOCTYPE a [\n{laughs}]>\n' + XML.replace("36979", "&l9;")
    with pytest.raises(ReleaseError, match="line 2: document type declarations"):
        parse_annotation(bomb)


def test_a_file_name_with_signs_of_xml_is_escaped() -> None:
    image = msgspec.structs.replace(IMAGE, filename="<a> & 'b'.jpg")
    xml = format_annotation(image)
    assert "<filename>&lt;a&gt; &amp; 'b'.jpg</filename>" in xml
    assert parse_annotation(xml).filename == image.filename


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"filename": "a/b.jpg"}, "file name"),
        ({"filename": "a\n.jpg"}, "file name"),
        ({"height": 0}, "size"),
        ({"height": 374}, "outside"),
        ({"boxes": (ReleasedBox((), Rect(1, 1, 2, 2)),)}, "no <name>"),
        ({"boxes": (ReleasedBox((1, 1), Rect(1, 1, 2, 2)),)}, "twice"),
        ({"unboxed": (UnboxedChain(0, True, True),)}, "not a chain id"),
    ],
)
def test_an_annotation_that_could_not_be_read_back_is_not_written(
    tmp_path: Path, change: dict[str, object], why: str
) -> None:
    with pytest.raises(ReleaseError, match=why) as caught:
        write_image(tmp_path, msgspec.structs.replace(IMAGE, **change))
    assert caught.value.file == str(tmp_path / "Annotations" / "36979.xml")
    assert not list(tmp_path.iterdir())


def test_an_image_whose_sentence_could_not_be_read_back_is_not_written(
    tmp_path: Path,
) -> None:
    bad = Sentence(("A", "man]"), (Phrase(0, 2, ("people",), 1),))
    image = msgspec.structs.replace(IMAGE, sentences=(SENTENCE, bad))
    with pytest.raises(ReleaseError) as caught:
        write_image(tmp_path, image)
    error = caught.value
    assert (error.file, error.line) == (str(tmp_path / "Sentences" / "36979.txt"), 2)
    assert not list(tmp_path.iterdir())


def test_an_error_names_file_and_line(tmp_path: Path) -> None:
    write_image(tmp_path, IMAGE)
    path = tmp_path / "Sentences" / "36979.txt"
    path.write_text(f"{LINE}\n[/EN#x/people A man] .\n")
    with pytest.raises(ReleaseError) as caught:
        read_image(tmp_path, "36979")
    message = f"{path}, line 2: the chain id “x” of “[/EN#x/people” is not a number"
    assert str(caught.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_files_of_other_systems_are_read(tmp_path: Path) -> None:
    write_image(tmp_path, IMAGE)
    for path in tmp_path.glob("*/*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_image(tmp_path, "36979") == IMAGE


def test_what_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    write_image(tmp_path, IMAGE)
    (tmp_path / "Sentences" / "36979.txt").write_bytes(b"A man .\nA caf\xe9 .\n")
    with pytest.raises(ReleaseError, match="line 2: this is not UTF-8"):
        read_sentences(tmp_path, "36979")


def test_captions_can_be_read_without_annotations(tmp_path: Path) -> None:
    write_image(tmp_path, IMAGE)
    (tmp_path / "Annotations" / "36979.xml").unlink()
    assert read_sentences(tmp_path, "36979") == (SENTENCE,)
    with pytest.raises(ReleaseError, match=r"36979\.xml: the file is missing"):
        read_image(tmp_path, "36979")


def test_a_file_without_captions_is_refused(tmp_path: Path) -> None:
    write_image(tmp_path, IMAGE)
    (tmp_path / "Sentences" / "36979.txt").write_text("")
    with pytest.raises(ReleaseError, match="has no caption"):
        read_sentences(tmp_path, "36979")
    with pytest.raises(ReleaseError, match="has no caption"):
        write_image(tmp_path, msgspec.structs.replace(IMAGE, sentences=()))


@pytest.mark.parametrize("image", ["", "..", "../a", "a/b", ".a", "-a", "a\\b", "a\n", "a\0", "é"])
def test_an_image_id_never_leaves_the_directory(tmp_path: Path, image: str) -> None:
    with pytest.raises(ReleaseError, match="is not an image id"):
        read_sentences(tmp_path, image)
    with pytest.raises(ReleaseError, match="is not an image id"):
        write_image(tmp_path, msgspec.structs.replace(IMAGE, image=image))
    with pytest.raises(ReleaseError, match="is not an image id"):
        write_splits(tmp_path, {"train": [image]})
    with pytest.raises(ReleaseError, match="is not an image id"):
        write_unrelated(tmp_path, {image: [1]})
    assert not list(tmp_path.iterdir())


def test_images_come_in_the_order_of_the_splits(tmp_path: Path) -> None:
    images = [msgspec.structs.replace(IMAGE, image=name) for name in ("a", "b", "c", "10", "9")]
    release_with(tmp_path, *images)
    assert image_ids(tmp_path) == ["10", "9", "a", "b", "c"]
    write_splits(tmp_path, {"val": ["b"], "train": ["c", "9", "a"]})
    assert (tmp_path / "train.txt").read_text() == "c\n9\na\n"
    assert read_splits(tmp_path) == {"train": ("c", "9", "a"), "val": ("b",)}
    assert image_ids(tmp_path) == ["c", "9", "a", "b"]
    assert image_ids(tmp_path, "val") == ["b"]
    assert [image.image for image in read_release(tmp_path)] == ["c", "9", "a", "b"]
    with pytest.raises(ReleaseError, match=r"no test\.txt"):
        image_ids(tmp_path, "test")


def test_an_image_is_in_one_split_only(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a\nb\n")
    (tmp_path / "val.txt").write_text("\nb\n")
    with pytest.raises(ReleaseError, match=r"val\.txt, line 2: .* already listed in train\.txt"):
        read_splits(tmp_path)
    with pytest.raises(ReleaseError, match="in train and again in val"):
        write_splits(tmp_path, {"train": ["a"], "val": ["a"]})
    with pytest.raises(ReleaseError, match="is not a split"):
        write_splits(tmp_path, {"../train": ["a"]})


def test_a_directory_without_sentences_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="this is not a release"):
        read_release(tmp_path)
    with pytest.raises(ReleaseError, match="this is not a release"):
        read_release(tmp_path / "nowhere")


def test_unrelated_captions_are_read_and_written(tmp_path: Path) -> None:
    assert read_unrelated(tmp_path) == {}
    write_unrelated(tmp_path, {"36979": [2, 5], "7": [1]})
    assert read_unrelated(tmp_path) == {"36979": (2, 5), "7": (1,)}
    (tmp_path / "UNRELATED_CAPTIONS").write_text("# format\n7 1\n8 3\n7 4\n7 1")
    assert read_unrelated(tmp_path) == {"7": (1, 4), "8": (3,)}
    with pytest.raises(ReleaseError, match="not a sentence number"):
        write_unrelated(tmp_path, {"7": [0]})


@pytest.mark.parametrize("line", ["7", "7 x", "7 0", "7 1 1", "7 -1", "../7 1"])
def test_a_bad_line_of_unrelated_captions_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "UNRELATED_CAPTIONS").write_text(f"# format\n{line}\n")
    with pytest.raises(ReleaseError, match="UNRELATED_CAPTIONS, line 2: "):
        read_unrelated(tmp_path)
