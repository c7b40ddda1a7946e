"""Recorded facts fold to the states that they folded to when they were recorded."""

from typing import Any

import msgspec
import pytest

from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import begin, fold
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import Body, Fact, body_kind
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState, encode_state
from tests.upgrade import HISTORIES


class History(msgspec.Struct):
    """An image as it was before its first fact, its facts, and what they folded to."""

    width: int
    height: int
    captions: list[str]
    # Number, caption, first token, token after the last, types.
    mentions: list[tuple[int, int, int, int, str]]
    settings: list[Settings]
    begun_under: int
    # The position of its settings, and the fact.
    facts: list[tuple[int, Body]]
    state: dict[str, Any]


RECORDED = msgspec.json.decode(HISTORIES.read_bytes(), type=list[History])


def folded(history: History) -> ImageState:
    start = begin(
        [Caption(n, tuple(text.split(" "))) for n, text in enumerate(history.captions, start=1)],
        [
            Mention(number, caption, start, end, tuple(types.split("/")))
            for number, caption, start, end, types in history.mentions
        ],
        width=history.width,
        height=history.height,
        settings=history.settings[history.begun_under],
    )
    facts = (
        Fact(number=number, settings=history.settings[under], body=body)
        for number, (under, body) in enumerate(history.facts, start=1)
    )
    return fold(start, facts)


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_history_folds_to_the_recorded_state(number: int) -> None:
    history = RECORDED[number]
    assert msgspec.json.decode(encode_state(folded(history))) == history.state


def test_histories_hold_every_kind_of_fact() -> None:
    kinds = {body_kind(body) for history in RECORDED for _, body in history.facts}
    all_kinds = {str(kind.__struct_config__.tag) for kind in Body.__args__}
    assert kinds == all_kinds
