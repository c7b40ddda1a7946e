import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.files.json_limits import (
    LARGEST_ENTRY,
    LONGEST_KEY,
    LONGEST_STRING,
    MOST_DEPTH,
    MOST_DIGITS,
    JsonLimitError,
    JsonLimits,
    check_json,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def refused_at(content: bytes, pieces: int = 1) -> tuple[int, str]:
    """Return where and why content is refused that comes in pieces of so many bytes."""
    with pytest.raises(JsonLimitError) as error:
        see(content, pieces)
    return error.value.offset, str(error.value)


def see(content: bytes, pieces: int) -> None:
    limits = JsonLimits()
    for start in range(0, len(content), pieces):
        limits.see(content[start : start + pieces])


@given(values, st.integers(1, 50))
def test_usual_json_passes_in_whatever_pieces_it_comes(value: Any, size: int) -> None:
    content = json.dumps(value, ensure_ascii=False).encode()
    see(content, size)
    check_json(content)


@pytest.mark.parametrize("pieces", [1, 7, 64, 10**7])
@pytest.mark.parametrize(
    ("content", "offset", "why"),
    [
        (b"[" * (MOST_DEPTH + 1), MOST_DEPTH, "nested more than 32 deep"),
        (b'{"a":' * (MOST_DEPTH + 1), 5 * MOST_DEPTH, "nested more than 32 deep"),
        (b"[1, -" + b"1" * MOST_DIGITS, 4, "more than 100 digits"),
        (b'{"' + b"k" * LONGEST_KEY + b'" : 1}', 1, "a key has more than 1,000 characters"),
        (b'["\\"[[[[", ' + b"2" * (MOST_DIGITS + 1), 11, "more than 100 digits"),
    ],
)
def test_a_limit_is_found_where_it_is_passed(
    content: bytes, offset: int, why: str, pieces: int
) -> None:
    found, message = refused_at(content, pieces)
    assert found == offset
    assert why in message


@pytest.mark.parametrize("pieces", [2**12, 2**16, 10**7])
@pytest.mark.parametrize(
    ("content", "offset", "why"),
    [
        (b'["' + b"a" * LONGEST_STRING + b'"]', 1, "a text is longer than 1 MB"),
        (b'["' + b"a" * (LONGEST_STRING + 2**17), 1, "a text is longer than 1 MB"),
        (b'[[{"a": [' + b"1," * LARGEST_ENTRY, 2, "the entry that begins here is larger than 1 MB"),
    ],
)
def test_what_is_large_is_refused_before_its_end(
    content: bytes, offset: int, why: str, pieces: int
) -> None:
    assert refused_at(content, pieces) == (offset, why)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * MOST_DEPTH + b"]" * MOST_DEPTH,
        b"[" + b"1" * MOST_DIGITS + b"]",
        b'["' + b"[" * 1000 + b'", "' + b"9" * 1000 + b'"]',
        b'["' + b"k" * (LONGEST_KEY + 1) + b'", 1]',
        b"[" + b"[],[]," * LARGEST_ENTRY + b"[]]",
    ],
)
def test_up_to_a_limit_all_is_well(content: bytes) -> None:
    check_json(content)
