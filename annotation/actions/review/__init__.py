"""Reviewers' decisions, and the doubts that lead to them."""
