"""Recipes: one experiment of the paper each, on plain inputs, from training to figures."""
