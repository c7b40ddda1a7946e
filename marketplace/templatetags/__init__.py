"""Filters for the worker site's templates."""
