"""Evaluation: distances between images and sentences; ranks, recall and intervals."""
