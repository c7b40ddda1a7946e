"""The public dataset, as the tests of the release format use it."""

from tests.data.conftest import public_dataset

__all__ = ["public_dataset"]
