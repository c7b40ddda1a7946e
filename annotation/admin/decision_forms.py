"""A form for each review decision, which turns the reviewer's input into a fact."""

from django import forms

from annotation.admin.decision_fields import (
    DecisionForm,
    chain_words,
    corners,
    live_boxes,
    mention_choices,
    mentions_shown,
    one_field,
    pixel_field,
    ticks_field,
)
from annotation.dashboard.words import TARGETS
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import ENTITY_TYPES, NOT_VISUAL
from annotation.pipeline.protocol import facts
from annotation.pipeline.protocol.state import Chain, ImageState, accepted_boxes


class SplitForm(DecisionForm):
    name, title, button = "split", "Split", "Split the chain"
    help = "The selected phrases and boxes move to a new chain."
    mentions = ticks_field("Phrases to move")
    boxes = ticks_field("Boxes to move", required=False)

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return chain is not None and len(chain.mentions) > 1

    def fill(self) -> None:
        self.choose("mentions", mention_choices(self.state, self.chain))
        boxes = accepted_boxes(self.state, self.chain_number)
        self.choose("boxes", [(b.number, f"box {b.number}: {corners(b.rect)}") for b in boxes])
        if not boxes:
            del self.fields["boxes"]

    def decision(self, reviewer: int) -> facts.Split:
        return facts.Split(
            reviewer=reviewer,
            chain=self.chain_number,
            mentions=tuple(self.cleaned_data["mentions"]),
            boxes=tuple(self.cleaned_data.get("boxes", ())),
        )


class JoinForm(DecisionForm):
    name, title, button = "join", "Join", "Join the chains"
    help = "Use this if the selected chains refer to the same thing. The lowest number is kept."
    chains = ticks_field("Chains to join with this one")

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return chain is not None and len(state.chains) > 1

    def fill(self) -> None:
        others = [other for other in self.state.chains if other.number != self.chain_number]
        self.choose("chains", [(o.number, chain_words(self.state, o)) for o in others])

    def decision(self, reviewer: int) -> facts.Join:
        chains = sorted({self.chain_number, *self.cleaned_data["chains"]})
        return facts.Join(reviewer=reviewer, chains=tuple(chains))


class RectForm(DecisionForm):
    """Four edges, counted as in the public format."""

    help = "In pixels of the photo, counted from 1 at the top left; both ends are included."
    xmin = pixel_field("Left")
    ymin = pixel_field("Top")
    xmax = pixel_field("Right")
    ymax = pixel_field("Bottom")

    @property
    def rect(self) -> Rect:
        return Rect(*(self.cleaned_data[name] for name in ("xmin", "ymin", "xmax", "ymax")))


class BoxAddForm(RectForm):
    name, title, button = "box_add", "Add a box", "Add the box"

    def decision(self, reviewer: int) -> facts.BoxAdd:
        return facts.BoxAdd(reviewer=reviewer, chain=self.chain_number, rect=self.rect)


class _BoxForm(DecisionForm):
    box = one_field("Box")

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return chain is not None and bool(live_boxes(state, chain))

    def fill(self) -> None:
        assert self.chain is not None
        self.choose("box", live_boxes(self.state, self.chain))


class BoxAdjustForm(RectForm, _BoxForm):
    name, title, button = "box_adjust", "Adjust a box", "Adjust the box"
    field_order = ["box"]

    def decision(self, reviewer: int) -> facts.BoxAdjust:
        return facts.BoxAdjust(reviewer=reviewer, box=self.cleaned_data["box"], rect=self.rect)


class BoxDeleteForm(_BoxForm):
    name, title, button = "box_delete", "Delete a box", "Delete the box"
    help = "The box is removed from every chain that it belongs to."

    def decision(self, reviewer: int) -> facts.BoxDelete:
        return facts.BoxDelete(reviewer=reviewer, box=self.cleaned_data["box"])


class NoBoxForm(DecisionForm):
    name, title, button = "no_box", "Settle without a box", "Settle the chain"
    help = "Select one or both. The chain’s boxes are removed."
    scene = forms.BooleanField(label="It is the scene or a place", required=False)
    nobndbox = forms.BooleanField(label="No box can be drawn for it", required=False)

    def decision(self, reviewer: int) -> facts.NoBox:
        return facts.NoBox(
            reviewer=reviewer,
            chain=self.chain_number,
            scene=self.cleaned_data["scene"],
            nobndbox=self.cleaned_data["nobndbox"],
        )


class RetypeForm(DecisionForm):
    name, title, button = "retype", "Change a phrase’s types", "Set the types"
    help = f"If you select only “{NOT_VISUAL}”, the phrase is removed from its chain."
    mention = one_field("Phrase")
    types = forms.MultipleChoiceField(
        label="Types",
        choices=[(kind, kind) for kind in (*ENTITY_TYPES, NOT_VISUAL)],
        widget=forms.CheckboxSelectMultiple,
    )

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return bool(mentions_shown(state, chain))

    def fill(self) -> None:
        self.choose("mention", mention_choices(self.state, self.chain))

    def decision(self, reviewer: int) -> facts.Retype:
        return facts.Retype(
            reviewer=reviewer,
            mention=self.cleaned_data["mention"],
            types=tuple(self.cleaned_data["types"]),
        )


class FixSpanForm(DecisionForm):
    name, title, button = "fix_span", "Change a phrase’s words", "Set the words"
    help = "Words are counted from 1 within the caption; punctuation marks count as words."
    mention = one_field("Phrase")
    first = forms.IntegerField(label="First word", min_value=1, max_value=1000)
    last = forms.IntegerField(label="Last word", min_value=1, max_value=1000)

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return bool(mentions_shown(state, chain))

    def fill(self) -> None:
        self.choose("mention", mention_choices(self.state, self.chain))

    def decision(self, reviewer: int) -> facts.FixSpan:
        return facts.FixSpan(
            reviewer=reviewer,
            mention=self.cleaned_data["mention"],
            start=self.cleaned_data["first"] - 1,
            end=self.cleaned_data["last"],
        )


class SendToForm(DecisionForm):
    name, title, button = "send_to", "Send to a stage", "Send the chain"
    target = forms.TypedChoiceField(
        label="Where",
        coerce=facts.Target,
        choices=[(target.value, words) for target, words in TARGETS.items()],
    )
    reason = forms.CharField(label="Reason (optional)", required=False, max_length=200)

    def decision(self, reviewer: int) -> facts.SendTo:
        return facts.SendTo(
            reviewer=reviewer,
            chain=self.chain_number,
            target=self.cleaned_data["target"],
            reason=self.cleaned_data["reason"],
        )


class CaptionForm(DecisionForm):
    name, title, button = "caption_unrelated", "Is a caption about the photo?", "Decide"
    help = "This ends the review of an image if workers reported a caption."
    caption = one_field("Caption")
    unrelated = forms.TypedChoiceField(
        label="The caption is",
        coerce=lambda value: value == "1",
        choices=[("1", "not about this photo"), ("0", "about this photo")],
    )

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return bool(state.captions)

    def fill(self) -> None:
        self.choose("caption", [(c.number, f"{c.number}: {c.text}") for c in self.state.captions])

    def decision(self, reviewer: int) -> facts.CaptionUnrelated:
        return facts.CaptionUnrelated(
            reviewer=reviewer,
            caption=self.cleaned_data["caption"],
            unrelated=self.cleaned_data["unrelated"],
        )


class UndoForm(DecisionForm):
    name, title, button = "undo", "Undo a decision", "Undo"
    help = "This works only if nothing else has changed the same chains or boxes since."
    of = one_field("Decision")

    @classmethod
    def applies(cls, state: ImageState, chain: Chain | None) -> bool:
        return bool(state.decisions)

    def fill(self) -> None:
        self.choose("of", self.decisions)

    def decision(self, reviewer: int) -> facts.Undo:
        return facts.Undo(reviewer=reviewer, decision=self.cleaned_data["of"])


FORMS: dict[str, type[DecisionForm]] = {
    form.name: form
    for form in (
        SendToForm,
        NoBoxForm,
        SplitForm,
        JoinForm,
        BoxAddForm,
        BoxAdjustForm,
        BoxDeleteForm,
        RetypeForm,
        FixSpanForm,
        CaptionForm,
        UndoForm,
    )
}
