"""Reads of the marketplace that span tables."""
