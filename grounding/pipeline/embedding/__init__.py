"""Embedding: covariances in one pass, CCA, stacked embeddings."""
