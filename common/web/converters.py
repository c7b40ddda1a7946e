"""Numbers in addresses: no larger than the database's numbers can be.

Importing this registers the converter for `path()`, as `<id:…>`; modules with such routes do so.
"""

from django.urls import register_converter
from django.urls.converters import IntConverter

LARGEST = 2**63 - 1


class IdConverter(IntConverter):
    """A row's number. A number that no row can have is treated like any other wrong address."""

    # The largest number has this many digits; reading more would only cost time.
    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        """Return the number; ValueError tells Django that this is not an address of ours."""
        number = super().to_python(value)
        if number > LARGEST:
            raise ValueError(f"{value} is larger than any row's number")
        return number


register_converter(IdConverter, "id")
