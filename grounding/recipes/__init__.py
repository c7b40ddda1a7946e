"""Recipes: one experiment of the paper each.

`recipe.py` defines what a recipe is, `registry.py` lists the recipes, `options.py` turns the
settings of a recipe into options of the command line and fields of the form. To add a recipe,
write a module like `image_sentence.py` and add a line to the registry.
"""
