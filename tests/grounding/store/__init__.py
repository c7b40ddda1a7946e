"""Tests of the feature store and of extraction into it."""
