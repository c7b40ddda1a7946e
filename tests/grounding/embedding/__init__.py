"""Tests of covariances, CCA and stacked embeddings."""
