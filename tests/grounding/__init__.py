"""Tests of the experiments, in the rooms of `grounding/pipeline`; commands and pages are here."""
