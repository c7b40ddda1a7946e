"""Requesters' regular expressions, by JavaScript's rules, in a bounded number of steps."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.questions.patterns import MAX_STATES, Budget, is_found


@pytest.mark.parametrize(
    ("regex", "text", "expected"),
    [
        ("", "", True),
        ("b", "abc", True),
        ("^b", "abc", False),
        ("^[12][0-9]{3}-[01]?\\d-[0-3]?\\d$", "2014-10-3", True),
        ("^[12][0-9]{3}-[01]?\\d-[0-3]?\\d$", "3014-10-3", False),
        ("^a{2,3}$", "aa", True),
        ("^a{2,3}$", "aaaa", False),
        ("^a{2,}$", "a", False),
        ("^(?:ab|cd)*?$", "abcdab", True),
        ("a{,2}", "a{,2}", True),
        ("[^]", "\n", True),
        ("[]", "a", False),
        (".", "\n", False),
        ("\\bfoo\\b", "a foo.", True),
        ("\\bfoo\\b", "afoo", False),
        ("a\\Bb", "ab", True),
        ("[\\w.-]+@", "a.b-c@", True),
        ("^[a-a]$", "a", True),
        ("^[\\x41-C]$", "B", True),
        ("^[A-\\x43]$", "D", False),
        ("^[a-]$", "-", True),
        ("^[ab-dx]+$", "abcdx", True),
        ("[ab-dx]", "e", False),
        ("\\d", "٣", False),
        ("\\W", "é", True),
        ("\\s", "\u3000", True),
        ("[^\\S]", "a", False),
        ("^123$", "123\n", False),
        ("\\u0041\\x42\\/\\-", "AB/-", True),
        ("^..$", "😀", True),
        ("^((){9999}){9999}$", "", True),
    ],
)
def test_what_javascript_would_find(regex: str, text: str, expected: bool) -> None:
    assert is_found(regex, text) is expected


@pytest.mark.parametrize(
    ("regex", "text", "expected"),
    [("ABC", "abc", True), ("[a-z]", "Q", True), ("[^a]", "A", False), ("é", "É", True)],
)
def test_case_can_be_ignored(regex: str, text: str, expected: bool) -> None:
    assert is_found(regex, text, ignore_case=True) is expected


@pytest.mark.parametrize(
    "regex",
    [
        *["(?=a)", "(?<!a)b", "(a)\\1", "(a", "a)", "[a", "*a", "a**", "[z-a]", "a{3,2}", "a\\"],
        *["[\\d-z]", "[a-\\d]", "[\\w-z]", "[a-\\w]", "[ -\\s]"],
        *["(" * 1000 + ")" * 1000, f"a{{{MAX_STATES + 1}}}", "((a{99}){99}){99}"],
    ],
)
def test_what_is_not_understood_is_left_to_the_browser(regex: str) -> None:
    assert is_found(regex, "a") is None


def test_steps_are_counted_before_they_are_taken() -> None:
    budget = Budget(2 * MAX_STATES)
    assert is_found("^(a+)+$", "a" * 20 + "b", budget=budget) is False
    assert is_found("^(a+)+$", "a" * 1000 + "b", budget=budget) is None
    # A class of many ranges is as much work as many states.
    assert is_found("[" + "ab" * 10_000 + "]", "x" * 1000) is None


# Of what both languages read alike.
ATOMS = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "\\w", "^", "$", "\\b", ""])
SIMPLE = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@given(SIMPLE, st.text(alphabet="abc ", max_size=8))
def test_the_same_is_found_as_by_pythons_engine(regex: str, text: str) -> None:
    assert is_found(regex, text) is (re.search(regex, text) is not None)


@given(st.text(alphabet="ab()[]{}?*+|\\^$-,.123:=!<", max_size=20), st.text(max_size=20))
def test_any_expression_gets_an_answer(regex: str, text: str) -> None:
    assert is_found(regex, text) in (True, False, None)
