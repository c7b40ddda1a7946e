"""Numbers in addresses: no larger than the database's numbers can be.

Importing this makes the converter known to `path()`, as `<id:…>`; modules with such routes do.
"""

from django.urls import register_converter
from django.urls.converters import IntConverter

LARGEST = 2**63 - 1


class IdConverter(IntConverter):
    """A row's number. One that no row can have leads nowhere, as any other wrong address does."""

    # As many digits as the largest has; reading more would only cost time.
    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        """Return the number; ValueError tells Django that this is no address of ours."""
        number = super().to_python(value)
        if number > LARGEST:
            raise ValueError(f"{value} is larger than any row's number")
        return number


register_converter(IdConverter, "id")
