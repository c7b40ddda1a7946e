"""The chunker: a conditional random field (CRF) that marks the noun phrases of a caption.

It sees words, their endings and their shapes, two tokens to either side, without a tagger or
parser.
"""

import errno
import os
import re
import struct
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import pycrfsuite

MODEL_FILE = "chunker.crfsuite"

# A token begins a chunk, continues one, or stands outside all chunks.
_BEGIN, _INSIDE, _OUTSIDE = "B", "I", "O"

# L1 keeps the model small: most features end with weight 0 and are not stored.
_TRAINING = {
    "c1": 1.5,
    "c2": 0.01,
    "feature.minfreq": 3,
    "feature.possible_transitions": True,
    "max_iterations": 80,
}

_HEADER = struct.Struct("<4sI")  # the model's magic bytes and its file size

_SHAPES = ((re.compile(r"[A-Z]+"), "X"), (re.compile(r"[a-z]+"), "x"), (re.compile(r"\d+"), "0"))


class Chunker:
    """Marks the chunks of one caption at a time; may be shared between threads."""

    def __init__(self, model: Path) -> None:
        """Open a model file. ValueError if it is not a model or not complete."""
        content = model.read_bytes()
        # The library trusts the offsets in the file, so a truncated one would crash the process.
        if not _is_complete(content):
            raise ValueError(f"{model} is not a complete chunker model")
        self._content = content  # the tagger points into it
        self._tagger = pycrfsuite.Tagger()
        self._tagger.open_inmemory(content)
        self._one_at_a_time = threading.Lock()

    def spans(self, tokens: Sequence[str]) -> list[tuple[int, int]]:
        """Return (start, end) of each chunk, in order and without overlap."""
        if not tokens:
            return []
        features = token_features(tokens)
        with self._one_at_a_time:
            labels = self._tagger.tag(features)
        return _label_spans(labels)


class ChunkerTrainer:
    """Collects captions, then trains a model on them. The same captions give the same model."""

    def __init__(self) -> None:
        self._trainer = pycrfsuite.Trainer(verbose=False)
        self._trainer.select("lbfgs")
        self._trainer.set_params(_TRAINING)

    def add(self, tokens: Sequence[str], spans: Iterable[tuple[int, int]]) -> None:
        """Take one caption and the (start, end) of its chunks."""
        self._trainer.append(token_features(tokens), _labels(len(tokens), spans))

    def train(self, model: Path) -> None:
        """Write the model file; this takes minutes for 100,000 captions.

        OSError: the file could not be written completely.
        """
        self._trainer.train(str(model))
        # The library does not check whether the disk stored everything.
        if not _is_complete(model.read_bytes()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(model))


def _is_complete(content: bytes) -> bool:
    return len(content) >= 48 and _HEADER.unpack_from(content) == (b"lCRF", len(content))


def token_features(tokens: Sequence[str]) -> list[list[str]]:
    """Return for each token what the chunker may learn from.

    The first letter of a feature names its kind. The names are short because the model stores all
    of them.
    """
    words = ["<<", "<", *(_clean(token).casefold() for token in tokens), ">", ">>"]
    return [_features(words[i : i + 5], _shape(_clean(token))) for i, token in enumerate(tokens)]


def _features(window: Sequence[str], shape: str) -> list[str]:
    before2, before, word, after, after2 = window
    return [
        f"w{word}",
        f"s{shape}",
        f"2{word[-2:]}",
        f"3{word[-3:]}",
        f"a{before}",
        f"b{after}",
        f"c{before2}",
        f"d{after2}",
        f"e{before[-3:]}",
        f"f{after[-3:]}",
        f"g{before} {word}",
        f"h{word} {after}",
        f"i{before} {after}",
        f"j{before2} {before}",
        f"k{after} {after2}",
    ]


def _clean(token: str) -> str:
    # The library takes UTF-8 only, which has no form for half a surrogate pair.
    return token.encode("utf-8", "replace").decode("utf-8")


def _shape(token: str) -> str:
    for pattern, sign in _SHAPES:
        token = pattern.sub(sign, token)
    return token


def _labels(length: int, spans: Iterable[tuple[int, int]]) -> list[str]:
    labels = [_OUTSIDE] * length
    for start, end in spans:
        labels[start] = _BEGIN
        labels[start + 1 : end] = [_INSIDE] * (end - start - 1)
    return labels


def _label_spans(labels: Sequence[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for position, label in enumerate([*labels, _OUTSIDE]):
        if start is not None and label != _INSIDE:
            spans.append((start, position))
            start = None
        # The model may also put "inside" after "outside"; that begins a chunk too.
        if label == _BEGIN or (label == _INSIDE and start is None):
            start = position
    return spans
