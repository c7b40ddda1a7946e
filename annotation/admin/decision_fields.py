"""Building blocks of the review decision forms: fields and choices."""

from typing import Any, ClassVar

from django import forms

from annotation.dashboard.words import fact_words
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention, mention_text
from annotation.pipeline.protocol import facts
from annotation.pipeline.protocol.state import (
    BoxStatus,
    Chain,
    ImageState,
    mentions_of,
    representative,
)

Choices = list[tuple[Any, str]]


class DecisionForm(forms.Form):
    """A decision about a chain, or about an image if there is no chain."""

    name: ClassVar[str]
    title: ClassVar[str]
    button: ClassVar[str]
    help: ClassVar[str] = ""

    def __init__(
        self,
        state: ImageState,
        chain: Chain | None,
        data: Any = None,
        *,
        decisions: Choices | None = None,
    ) -> None:
        super().__init__(data, auto_id=f"{self.name}-%s", label_suffix="")
        self.state = state
        self.chain = chain
        # Decisions about the image that might be undone, in words.
        self.decisions = decisions or []
        self.fill()

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        """Return whether the decision is possible here."""
        return chain is not None

    def fill(self) -> None:
        """Set the choices of the fields."""

    def decision(self, reviewer: int) -> facts.Decision | facts.Undo:
        raise NotImplementedError

    @property
    def chain_number(self) -> int:
        assert self.chain is not None  # `applies` has checked it
        return self.chain.number

    def choose(self, field: str, choices: Choices) -> None:
        chosen = self.fields[field]
        assert isinstance(chosen, forms.ChoiceField)
        chosen.choices = choices


def ticks_field(label: str, **more: Any) -> forms.TypedMultipleChoiceField:
    return forms.TypedMultipleChoiceField(
        label=label, coerce=int, widget=forms.CheckboxSelectMultiple, **more
    )


def one_field(label: str) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(label=label, coerce=int)


def pixel_field(label: str) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=100_000)


def mentions_shown(state: ImageState, chain: Chain | None) -> list[Mention]:
    return list(state.mentions) if chain is None else mentions_of(state, chain.mentions)


def mention_choices(state: ImageState, chain: Chain | None) -> Choices:
    return [
        (
            mention.number,
            f"“{mention_text(mention, state.captions)}” (caption {mention.caption}, words "
            f"{mention.start + 1} to {mention.end}, {' and '.join(mention.types)})",
        )
        for mention in mentions_shown(state, chain)
    ]


def live_boxes(state: ImageState, chain: Chain) -> Choices:
    live = (BoxStatus.ACCEPTED, BoxStatus.PROPOSED)
    return [
        (box.number, f"box {box.number}: {corners(box.rect)}")
        for box in state.boxes
        if chain.number in box.chains and box.status in live
    ]


def corners(rect: Rect) -> str:
    return f"{rect.xmin}, {rect.ymin} to {rect.xmax}, {rect.ymax}"


def chain_words(state: ImageState, chain: Chain) -> str:
    """Name a chain by its number and its representative phrase."""
    if not chain.mentions:
        return f"chain {chain.number}"
    phrase = mention_text(representative(state, chain.mentions), state.captions)
    return f"chain {chain.number} (“{phrase}”)"


def decision_choices(rows: list[tuple[int, facts.Body]], state: ImageState) -> Choices:
    """Return the decisions that might be undone, newest first, in words."""
    known = {record.fact for record in state.decisions}
    return [
        (number, f"{number}: {fact_words(body, state)}") for number, body in rows if number in known
    ]
