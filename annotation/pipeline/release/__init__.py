"""Releases: the dataset as files, its statistics, and how close it comes to an answer key."""
