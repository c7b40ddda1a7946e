"""Tests of distances, ranks and intervals."""
