"""Reading word vectors from files: word2vec (binary and text), GloVe, fastText's .vec.

word2vec text, fastText   a line "words dimensions", then a line "word number number …" for each
GloVe                     the same without the first line
word2vec binary           a line "words dimensions", then for each word its bytes, a space and
                          `dimensions` little-endian float32s; a line feed may follow
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Set
from pathlib import Path

import numpy

from grounding.pipeline.arrays import Float32
from grounding.pipeline.progress import Report, silent
from grounding.pipeline.text.word_vectors import WordVectors, WordVectorsError, checked

Readable = io.BufferedReader | gzip.GzipFile

_HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,6})\s*")
_CHUNK = 1 << 20
# No file has longer words; a binary file that seems to have one has another format.
_LONGEST_WORD = 10_000
_SNIFFED = 1 << 16
_MOST_DIMENSIONS = 10_000
# Bytes for each number of a line. Programs that write such files use up to 25.
_NUMBER = 64
# Compression makes a file of numbers three times smaller, not twenty times.
_MOST_UNPACKED = 20
_FREE_BYTES = 1 << 20
_TOLD_EVERY = 10_000


def read_word_vectors(path: Path, wanted: Set[str], *, report: Report = silent) -> WordVectors:
    """Return the vectors of the words in `wanted`, one line or word in memory at a time."""
    try:
        with open(path, "rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file = gzip.GzipFile(fileobj=raw) if zipped else raw
            start = file.read(_SNIFFED)
            file.seek(0)
            size = path.stat().st_size

            def tell() -> None:
                report("reading word vectors", raw.tell(), size)
                if zipped and file.tell() > _MOST_UNPACKED * raw.tell() + _FREE_BYTES:
                    raise WordVectorsError(
                        f"{path}: it decompresses to more than {_MOST_UNPACKED} times its size, so "
                        "it is not a file of word vectors"
                    )

            return _read(file, start, str(path), wanted, tell)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or "the file ends too early"
        raise WordVectorsError(f"{path}: cannot be read: {reason}") from error


def _read(
    file: Readable, start: bytes, source: str, wanted: Set[str], tell: Callable[[], None]
) -> WordVectors:
    if not start.strip():
        raise WordVectorsError(f"{source}: the file is empty")
    if start[0] == 0x80 or start.startswith((b"PK", b"\x93NUMPY")):
        raise WordVectorsError(
            f"{source}: this is a Python or numpy file, which is refused because loading it "
            "can run code. Save the vectors as word2vec text or binary "
            "(gensim: save_word2vec_format)"
        )
    first, _, rest = start.partition(b"\n")
    header = _HEADER.fullmatch(first)
    if header is None:
        return _read_text(file, source, wanted, _fields(first, source), 0, tell)
    words, dimensions = int(header[1]), int(header[2])
    if not words or not dimensions:
        raise WordVectorsError(f"{source}: according to its first line it contains no vectors")
    if dimensions > _MOST_DIMENSIONS:
        raise _too_wide(source)
    if _is_text(rest, dimensions):
        return _read_text(file, source, wanted, dimensions, 1, tell)
    file.readline()
    return _read_binary(file, source, wanted, words, dimensions, tell)


def _fields(line: bytes, source: str) -> int:
    """Return how many numbers follow the word in a line of a GloVe file."""
    fields = line.split()
    if len(fields) < 2 or not _are_numbers(fields[1:]):
        raise WordVectorsError(
            f"{source}: not a file of word vectors: its first line is neither "
            "“words dimensions” nor a word with its numbers"
        )
    if len(fields) > _MOST_DIMENSIONS:
        raise _too_wide(source)
    return len(fields) - 1


def _too_wide(source: str) -> WordVectorsError:
    return WordVectorsError(
        f"{source}, line 1: the vectors have more than {_MOST_DIMENSIONS:,} numbers"
    )


def _is_text(rest: bytes, dimensions: int) -> bool:
    fields = rest.partition(b"\n")[0].split()
    return len(fields) > dimensions and _are_numbers(fields[-dimensions:])


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


def _read_text(
    file: Readable,
    source: str,
    wanted: Set[str],
    dimensions: int,
    skip: int,
    tell: Callable[[], None],
) -> WordVectors:
    names = {word.encode(): word for word in wanted}
    found: dict[str, Float32] = {}
    longest = _LONGEST_WORD + _NUMBER * dimensions
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if number % _TOLD_EVERY == 0:
            tell()
        if len(line) > longest:
            raise WordVectorsError(
                f"{source}, line {number}: the line has more than {longest:,} bytes, too many for "
                f"a word and {dimensions:,} numbers"
            )
        if number <= skip:
            continue
        word = names.get(line.partition(b" ")[0])
        if word is None or word in found:
            continue
        fields = line.split()[1:]
        if len(fields) > dimensions:
            # An entry of several words, as in GloVe's largest file. It matches no token.
            continue
        try:
            if len(fields) < dimensions:
                raise ValueError
            found[word] = numpy.array(fields, dtype=numpy.float32)
        except ValueError:
            raise WordVectorsError(
                f"{source}, line {number}: expected {dimensions} numbers after “{word}”"
            ) from None
    return checked(found, dimensions, source)


def _read_binary(
    file: Readable,
    source: str,
    wanted: Set[str],
    words: int,
    dimensions: int,
    tell: Callable[[], None],
) -> WordVectors:
    names = {word.encode(): word for word in wanted}
    length = 4 * dimensions
    found: dict[str, Float32] = {}
    buffer, at = b"", 0
    for number in range(1, words + 1):
        if number % _TOLD_EVERY == 0:
            tell()
        space = buffer.find(b" ", at)
        while space < 0 or len(buffer) < space + 1 + length:
            more = file.read(_CHUNK)
            tell()
            too_long = space < 0 and len(buffer) - at > _LONGEST_WORD
            if not more or too_long:
                raise WordVectorsError(
                    f"{source}: word {number:,} of {words:,} is incomplete; the file is truncated, "
                    "or it is not a binary word2vec file"
                )
            buffer, at = buffer[at:] + more, 0
            space = buffer.find(b" ", at)
        word = names.get(buffer[at:space].lstrip(b"\n"))
        if word is not None and word not in found:
            found[word] = numpy.frombuffer(buffer, "<f4", dimensions, space + 1).astype(
                numpy.float32
            )
        at = space + 1 + length
    return checked(found, dimensions, source)
