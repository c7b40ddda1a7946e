"""A finished dataset: its shapes, reading and writing it, its statistics and scores."""
