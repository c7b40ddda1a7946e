"""What the experiments read: word vectors, weights, arrays, shards, boxes."""

import gzip
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy

from grounding.pipeline.arrays import read_arrays
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.store.features import opened
from grounding.pipeline.text.word_vectors_sources import load_word_vectors
from grounding.pipeline.vision.photos import photo_table, read_photo
from grounding.pipeline.vision.regions import read_boxes
from grounding.pipeline.vision.weights import read_weights
from tests.hostile.cases import Case, file_of

Content = Callable[[], bytes | str]
Read = Callable[[Path], object]


def prepare() -> None:
    """Nothing is needed: these are read without a database."""


def reader(read: Read) -> Callable[[Path], str | None]:
    def refusal(path: Path) -> str | None:
        try:
            read(path)
        except GroundingError as error:
            return str(error)
        return None

    return refusal


def photo(path: Path) -> str | None:
    content = path.read_bytes()
    digest = sha256(content).hexdigest()
    del content
    return reader(lambda file: read_photo(file.parent, file.name, digest))(path)


def case(kind: str, name: str, file: str, content: Content, *says: str) -> Case:
    return Case(f"{kind}: {name}", file_of(file, content), READERS[kind], (file, *says))


READERS: dict[str, Callable[[Path], str | None]] = {
    "vectors": reader(lambda path: load_word_vectors(str(path), ["man", "dog"], [])),
    "weights": reader(read_weights),
    "arrays": reader(lambda path: read_arrays(path, ("a",))),
    "boxes": reader(read_boxes),
    "photo table": reader(lambda path: photo_table(path.parent)),
    "store": reader(lambda path: opened(path)),
}


def vectors(name: str, content: Content, *says: str) -> Case:
    return case("vectors", name, "vectors.txt", content, *says)


def weights(name: str, content: Content, *says: str, file: str = "net.pth") -> Case:
    return case("weights", name, file, content, *says)


def safetensors(header: bytes, said: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if said is None else said) + header


def torch_zip(pickled: bytes, how: int = zipfile.ZIP_STORED, storage: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        archive.writestr("net/data.pkl", pickled)
        archive.writestr("net/version", b"3\n")
        archive.writestr("net/data/0", storage)
    return file.getvalue()


def doubling_key(times: int = 60) -> bytes:
    """A pickle of a dictionary whose key is a pair of pairs of pairs: its hash takes years."""
    return b"\x80\x02}N\x85q\x000" + b"h\x00h\x00\x86q\x000" * times + b"h\x00Ns."


def npz(header: str, body: bytes = b"", how: int = zipfile.ZIP_STORED, many: int = 1) -> bytes:
    told = header.encode().ljust(118 - 1) + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(told)) + told + body
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        for number in range(many):
            archive.writestr("a.npy" if number == 0 else f"b{number}.npy", array)
    return file.getvalue()


def array_of(shape: str, dtype: str = "<f4") -> str:
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"


def pickled_arrays() -> bytes:
    file = io.BytesIO()
    numpy.savez(file, a=numpy.array([{"a": 1}], dtype=object))
    return file.getvalue()


def store(name: str, shard: Content, *says: str, kind: bytes | None = None) -> Case:
    about = {"backbone": "net", "crops": "c", "dtype": "float32", "dimensions": 4}

    def make(folder: Path) -> Path:
        inside = folder / "net.c.float32"
        (inside / "shards").mkdir(parents=True)
        (inside / "kind.json").write_bytes(json.dumps(about).encode() if kind is None else kind)
        file_of("x.shard", shard)(inside / "shards")
        return folder

    return Case(f"store: {name}", make, READERS["store"], says)


def sparse_store(name: str, rows: int, refused: int, told: int, size: int) -> Case:
    """A shard that is nearly all hole: the file system keeps nothing of it."""
    made = store(name, lambda: head(rows, refused, told), "x.shard", "shard")

    def make(folder: Path) -> Path:
        root = made.make(folder)
        with (root / "net.c.float32" / "shards" / "x.shard").open("r+b") as file:
            file.truncate(size)
        return root

    return Case(made.name, make, made.read, made.says)


def head(rows: int, refused: int, told: int, dimensions: int = 4, itemsize: int = 4) -> bytes:
    return struct.pack("<8sIIIIQ", b"CHBXSHD1", rows, refused, dimensions, itemsize, told)


def refusing(reasons: bytes, refused: int = 1) -> bytes:
    start = head(0, refused, len(reasons)) + bytes(48 * refused)
    return start + bytes(-len(start) % 64) + reasons


VECTORS = [
    vectors("line of 100 MB", lambda: "man " + "1 " * 50_000_000, "line 1"),
    vectors(
        "gzipped line of 500 MB",
        lambda: gzip.compress(b"man 1 2\n" + b"dog " + b"1" * 500_000_000),
        "line 2",
    ),
    vectors(
        "gzipped 500 MB of empty lines",
        lambda: gzip.compress(b"man 1 2\n" + b"\n" * 500_000_000),
        "decompresses",
    ),
    vectors("999,999 numbers a word", lambda: "5 999999\nman 1 2 3\n", "line 1"),
    vectors(
        "binary file of 999,999,999,999 words",
        lambda: b"999999999999 300\n" + b"man " + bytes(1200) * 3,
        "999,999,999,999",
    ),
    vectors(
        "gzipped binary file of zeros",
        lambda: gzip.compress(b"999999999999 300\n" + bytes(300_000_000)),
    ),
    vectors(
        "gzipped binary file of spaces",
        lambda: gzip.compress(b"999999999999 1\n" + b" " * 300_000_000),
        "decompresses",
    ),
    vectors("word of a megabyte", lambda: b"9 2\n" + b"x" * 5_000_000, "vectors.txt"),
    vectors("numbers of thousands of digits", lambda: f"1 2\nman {'9' * 5000} 1\n", "vectors.txt"),
    vectors("pickle", lambda: pickle.dumps({"man": [1.0] * 100_000}), "can run code"),
    vectors(
        "gzip that is damaged", lambda: gzip.compress(b"man 1 2\n" * 10_000)[:-500] + bytes(500)
    ),
    vectors(
        "gzip whose packing is damaged", lambda: b"\x1f\x8b\x08\0\0\0\0\0\0\0" + b"\xff" * 100_000
    ),
    vectors("zeros", lambda: bytes(5_000_000)),
]

WEIGHTS = [
    weights(
        "header said to have 2^63 bytes",
        lambda: safetensors(b"{}", 2**63),
        "header",
        file="net.safetensors",
    ),
    weights(
        "header of 50 MB", lambda: safetensors(b" " * 50_000_000), "header", file="net.safetensors"
    ),
    weights(
        "header of nested arrays", lambda: safetensors(b"[" * 1_000_000), file="net.safetensors"
    ),
    weights(
        "tensor of a quintillion numbers",
        lambda: safetensors(
            b'{"a":{"dtype":"F32","shape":[1000000000,1000000000],"data_offsets":[0,4]}}' + bytes(4)
        ),
        file="net.safetensors",
    ),
    weights(
        "100,000 tensors that overlap",
        lambda: (
            safetensors(
                json.dumps(
                    {
                        f"t{n}": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
                        for n in range(100_000)
                    }
                ).encode()
            )
            + bytes(4)
        ),
        file="net.safetensors",
    ),
    weights(
        "pickle that runs a program", lambda: b"cos\nsystem\n(S'touch /tmp/never'\ntR.", "refused"
    ),
    weights("pickle with a key whose hash takes years", lambda: doubling_key(), "refused"),
    weights("zipped pickle with such a key", lambda: torch_zip(doubling_key()), "refused"),
    weights(
        "pickle of ten million lists", lambda: b"\x80\x02(" + b"]" * 10_000_000 + b"l.", "refused"
    ),
    weights(
        "zip of 500 MB of zeros",
        lambda: torch_zip(bytes(100), zipfile.ZIP_DEFLATED, bytes(500_000_000)),
        "compressed",
    ),
    weights(
        "pickle that unfolds to 300 MB",
        lambda: torch_zip(b"0" * 300_000_000, zipfile.ZIP_DEFLATED),
        "compressed",
    ),
    weights(
        "text of 2 GB that is not there", lambda: b"\x80\x02X" + struct.pack("<I", 2**31) + b"a"
    ),
    weights("tar file", lambda: b"sys_info".ljust(257, b"\0") + b"ustar\0" + bytes(20_000), "tar"),
    weights("noise", lambda: bytes(range(256)) * 10_000),
]

ARRAYS = [
    case(
        "arrays",
        "array of a trillion numbers",
        "a.npz",
        lambda: npz(array_of("(1000000, 1000000)")),
        "shorter",
    ),
    case(
        "arrays",
        "array of 10 GB",
        "a.npz",
        lambda: npz(array_of("(2500000000,)"), bytes(1000)),
        "shorter",
    ),
    case(
        "arrays",
        "compressed array of 400 MB",
        "a.npz",
        lambda: npz(array_of("(100000000,)"), bytes(400_000_000), zipfile.ZIP_DEFLATED),
        "compressed",
    ),
    case("arrays", "pickled objects", "a.npz", pickled_arrays),
    case(
        "arrays",
        "header that is a program",
        "a.npz",
        lambda: npz("__import__('os').system('touch /tmp/never')"),
    ),
    case("arrays", "header of nested brackets", "a.npz", lambda: npz("[" * 9_000)),
    case("arrays", "shape of 5,000 digits", "a.npz", lambda: npz(array_of(f"({'9' * 5000},)"))),
    case("arrays", "no archive", "a.npz", lambda: b"x" * 1_000_000),
]

BOXES = [
    case(
        "boxes",
        "quote that is never closed",
        "boxes.csv",
        lambda: 'image,x0,y0,x1,y1\n"a,1,1,2,2\n' + "b,1,1,x,2\n" * 1_000_000,
        "line",
    ),
    case(
        "boxes",
        "line of 50 MB",
        "boxes.csv",
        lambda: "image,x0,y0,x1,y1\n" + "1," * 25_000_000,
        "line 2",
    ),
    case(
        "boxes",
        "number of 5,000 digits",
        "boxes.csv",
        lambda: f"image,x0,y0,x1,y1\na,1,1,2,{'9' * 5000}\n",
        "line 2",
    ),
    case("boxes", "nested arrays", "boxes.jsonl", lambda: '{"image": ' + "[" * 500_000, "line 1"),
    case(
        "boxes",
        "field with nested arrays",
        "boxes.jsonl",
        lambda: '{"x": ' + "[" * 500_000,
        "line 1",
    ),
    case(
        "boxes",
        "line of 50 MB of boxes",
        "boxes.jsonl",
        lambda: '{"image": "a", "boxes": [' + "[1,1,2,2]," * 5_000_000,
        "line 1",
    ),
]

STORES = [
    sparse_store(
        "shard of 100 million keys in a hole", 100_000_000, 0, 0, 32 + 48 * 10**8 + 16 * 10**8 + 32
    ),
    sparse_store("reasons of 10 GB in a hole", 0, 1, 10**10, 10**10 + 128),
    store("reasons of nested arrays", lambda: refusing(b"[" * 1_000_000), "x.shard"),
    store(
        "reasons of five million texts",
        lambda: refusing(b"[" + b'"",' * 5_000_000 + b'""]'),
        "x.shard",
    ),
    store("fewer reasons than refused", lambda: refusing(b"[]", 1000), "x.shard"),
    store("kind of nested arrays", lambda: b"", "kind.json", kind=b'{"x": ' + b"[" * 60_000),
    store("kind of 50 MB", lambda: b"", "kind.json", kind=b" " * 50_000_000),
    case("photo table", "nested arrays", "photos.json", lambda: '{"a": ' + "[" * 400_000),
    case(
        "photo table",
        "a million photos",
        "photos.json",
        lambda: "{" + ",".join(f'"{n}":["",0,0,""]' for n in range(1_000_000)) + "}",
    ),
    case("photo table", "200 MB of spaces", "photos.json", lambda: " " * 200_000_000),
]

CASES = [*VECTORS, *WEIGHTS, *ARRAYS, *BOXES, *STORES]
