"""Shared code that needs no database."""
