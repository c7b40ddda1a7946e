"""All recipes, by name: the one list that the command line, the pages and the workers use."""

from typing import Any

from grounding.pipeline.errors import GroundingError
from grounding.recipes.image_sentence import IMAGE_SENTENCE
from grounding.recipes.recipe import Recipe

RECIPES: dict[str, Recipe[Any]] = {
    IMAGE_SENTENCE.name: IMAGE_SENTENCE,
}


def recipe_find(name: str) -> Recipe[Any]:
    """Return the recipe of that name; raise GroundingError if there is none."""
    try:
        return RECIPES[name]
    except KeyError:
        raise GroundingError(
            f"unknown recipe {name!r}; choose one of: {', '.join(RECIPES)}"
        ) from None
