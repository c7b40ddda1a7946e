"""The steps of every experiment, before those of its recipe."""

from typing import Any

from grounding.recipes.recipe import Recipe

LOOKING = "looking at photos"
READING = "reading captions"
EXTRACTING = "extracting features"


def stages_of(recipe: Recipe[Any]) -> tuple[str, ...]:
    """Return the steps of an experiment in their order. Loading word vectors may add one more."""
    return (LOOKING, READING, EXTRACTING, *recipe.stages)
