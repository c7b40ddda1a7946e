"""The corpora of the largest tests. The public dataset is found as in tests/data."""

import pytest

from tests.data.conftest import data_folder, public_dataset
from tests.e2e.corpus import corpus_write, guides_write
from tests.e2e.launch import PUBLIC, Corpus
from tests.sizes import WHOLE

__all__ = ["public_corpus", "public_dataset"]

IMAGES = 100


@pytest.fixture(scope="session")
def public_corpus(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Corpus | None:
    """100 public images as a campaign to be; None outside `make test-whole` or without the data."""
    photos = data_folder() / "photos"
    if not WHOLE or not photos.is_dir():
        return None
    dataset = request.getfixturevalue("public_dataset")
    folder = tmp_path_factory.mktemp("public")
    names = corpus_write(dataset, photos, folder / "corpus", IMAGES, "e2e")
    guides_write(folder / "corpus", names, folder / "guides")
    return Corpus(PUBLIC, folder / "corpus", folder / "guides")
