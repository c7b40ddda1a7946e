"""Corpora: what one brings for an image, the formats it may come in, and the pictures."""
