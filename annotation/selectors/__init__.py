"""Reads that span tables."""
