"""The errors of the API's front end: what goes wrong before an operation is asked."""


class FrontError(Exception):
    """A refusal with AWS's error type. `capital`: the text goes by Message, else by message."""

    def __init__(self, kind: str, message: str = "", *, capital: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.capital = capital


def not_serialisable(message: str = "") -> FrontError:
    """The body is no JSON, or a value in it has the wrong JSON type."""
    return FrontError("SerializationException", message, capital=True)
