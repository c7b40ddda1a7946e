"""Signing in: limits on password attempts, passwords, and the log."""
