"""A seeded crowd that answers from an answer key, with the paper's error rates."""
