"""Captioned photos in, a phrase-grounded dataset out."""

# The same as in pyproject.toml.
VERSION = "0.1.0"
