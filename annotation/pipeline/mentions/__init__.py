"""Mentions: the noun phrases of captions and their types, and the models that find them."""
