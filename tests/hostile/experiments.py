"""What the experiments read: word vectors, weights, arrays, shards, boxes."""

from hashlib import sha256
from pathlib import Path

from grounding.pipeline.errors import GroundingError
from grounding.pipeline.photos import read_photo


def photo(path: Path) -> str | None:
    content = path.read_bytes()
    digest = sha256(content).hexdigest()
    del content
    try:
        read_photo(path.parent, path.name, digest)
    except GroundingError as error:
        return str(error)
    return None


def prepare() -> None:
    """Nothing is needed: these are read without a database."""


CASES: list = []
