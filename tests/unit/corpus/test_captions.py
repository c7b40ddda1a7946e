"""Captions into tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.captions import Caption, tokenise


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A man, in a hat.", "A man , in a hat ."),
        ("A man's dog isn't here.", "A man 's dog is n't here ."),
        ("The man’s dog", "The man ’s dog"),
        ("Boys' shoes", "Boys ' shoes"),
        ("a t-shirt & a 5-gallon bucket", "a t-shirt & a 5-gallon bucket"),
        ("at 10:30 , 1,000 runners", "at 10:30 , 1,000 runners"),
        ("the U.S. flag", "the U.S. flag"),
        ("Dr. Who...", "Dr. Who ..."),
        ("a sign [in red]", "a sign -LSB- in red -RSB-"),
        ("  two   spaces\t", "two spaces"),
        ("", ""),
    ],
)
def test_splits_a_caption_as_the_public_captions_are_split(text: str, tokens: str) -> None:
    assert tokenise(text) == tuple(tokens.split())


@pytest.mark.parametrize(
    "caption",
    [
        "A man 's hat is n't red , it 's `` blue '' .",
        "A U.S. flag -LRB- large -RRB- flies -- high ...",
        "Someone in a T-shirt eats 1/2 of a 5-pound cake at 10:30 .",
        "A boy -LSB- left -RSB- plays .",
    ],
)
def test_a_tokenised_caption_is_left_alone(caption: str) -> None:
    assert tokenise(caption) == tuple(caption.split())


@given(st.text())
def test_no_token_is_empty_or_holds_a_bracket_or_space(text: str) -> None:
    for token in tokenise(text):
        assert token
        assert not set(token) & set("[]")
        assert token == "".join(token.split())


@given(st.text(alphabet=st.sampled_from("aAtns'’.,-3: `[]é&")))
def test_tokenising_twice_changes_nothing(text: str) -> None:
    tokens = tokenise(text)
    assert tokenise(" ".join(tokens)) == tokens


def test_the_text_of_a_caption_is_its_tokens() -> None:
    assert Caption(number=1, tokens=("A", "man", ".")).text == "A man ."
