"""The base of all errors that are to be read by people."""


class GroundingError(ValueError):
    """Something cannot be done; the message says what and where, why, and what helps."""
