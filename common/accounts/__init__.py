"""Signing in: sign-in pages, limits on password attempts, known devices, and the sign-in log."""
