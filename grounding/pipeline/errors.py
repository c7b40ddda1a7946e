"""The base class of all errors that are shown to researchers."""


class GroundingError(ValueError):
    """Something cannot be done; the message names it, the cause and a remedy."""
