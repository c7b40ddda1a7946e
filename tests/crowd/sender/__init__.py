"""Sending the outbox: HITs, payments and messages, and all that can go wrong on the way."""
