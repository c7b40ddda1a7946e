"""Releases: the dataset as files, the statistics of one, and how close it comes to an answer key."""
