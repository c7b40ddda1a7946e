"""The public dataset is found as in tests/data."""

from tests.data.conftest import public_dataset

__all__ = ["public_dataset"]
