"""Signing in: how often passwords may be tried, and which devices are known."""
