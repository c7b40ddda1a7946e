"""Errors of the API's front end, raised before an operation runs."""


class FrontError(Exception):
    """A refusal with AWS's error type. `capital`: the text's key is Message, else message."""

    def __init__(self, kind: str, message: str = "", *, capital: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.capital = capital


def not_serialisable(message: str = "") -> FrontError:
    """The body is not JSON, or a value in it has the wrong JSON type."""
    return FrontError("SerializationException", message, capital=True)
