"""Choosing gold questions for a sitting, and how well they do."""
