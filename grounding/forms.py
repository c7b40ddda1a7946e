"""The form that starts an experiment. Its last fields are the settings of the chosen recipe."""

from typing import Any

from django import forms

from grounding.library import CAPTIONS, Release, vectors
from grounding.recipes.options import Option, options_of
from grounding.recipes.recipe import Recipe

# In a terminal one can choose others.
BACKBONES = {
    "efficientnet-lite0": "EfficientNet-Lite0, with the weights of its package",
    "vgg16": "VGG-16 as in the paper; torchvision downloads its weights",
}
# Settings have a prefix, so that they cannot be taken for the fields above them.
SETTING = "setting-"
LONGEST_SETTING = 200


class StartForm(forms.Form):
    """What to run, chosen from what is there."""

    recipe = forms.CharField(widget=forms.HiddenInput)
    release = forms.ChoiceField(label="Release")
    vectors = forms.ChoiceField(label="Word vectors")
    backbone = forms.ChoiceField(label="Image features", choices=list(BACKBONES.items()))

    def __init__(self, recipe: Recipe[Any], here: list[Release], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["recipe"].initial = recipe.name
        words = [
            (name, "learned from the captions" if name == CAPTIONS else name) for name in vectors()
        ]
        for name, choices in (
            ("release", [(release.name, _described(release)) for release in here]),
            ("vectors", words),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        self._options = options_of(recipe.settings)
        for option in self._options:
            self.fields[SETTING + option.name] = _field(option)

    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("release", "vectors", "backbone")]

    def setting_fields(self) -> list[forms.BoundField]:
        return [self[SETTING + option.name] for option in self._options]

    def settings(self) -> dict[str, Any]:
        """Return the settings that were given, by name, as values."""
        given = ((option.name, SETTING + option.name) for option in self._options)
        return {name: value for name, field in given if (value := self.cleaned_data[field]) != ""}

    def settings_have_errors(self) -> bool:
        return any(field.errors for field in self.setting_fields())


def _field(option: Option) -> forms.Field:
    label, initial, help_text = option.label, option.default_text, option.help.capitalize()
    if option.choices:
        return forms.TypedChoiceField(
            label=label,
            initial=initial,
            help_text=help_text,
            required=False,
            choices=[(choice, choice) for choice in option.choices],
            coerce=option.parse,
        )
    return _SettingField(
        option,
        label=label,
        initial=initial,
        help_text=help_text,
        required=False,
        max_length=LONGEST_SETTING,
    )


class _SettingField(forms.CharField):
    """A setting typed as text; an empty field has the default."""

    def __init__(self, option: Option, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._option = option

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if text == "":
            return ""
        try:
            return self._option.parse(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


def _described(release: Release) -> str:
    splits = ", ".join(f"{count:,} {split}" for split, count in release.splits.items())
    photos = "" if release.has_photos else " (without photos)"
    return f"{release.name}: {splits or 'no splits'}{photos}"
