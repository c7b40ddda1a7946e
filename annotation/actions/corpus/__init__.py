"""Importing captions and photos, and withdrawing images."""
