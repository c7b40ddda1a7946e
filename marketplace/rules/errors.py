"""A caller's mistakes, with MTurk's code and wording: clients match on both."""

PREFIX = "AWS.MechanicalTurk."


class RequestError(ValueError):
    """The request cannot be carried out. `code` is MTurk's, without its prefix."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def turk_error_code(self) -> str:
        return PREFIX + self.code


def does_not_exist(kind: str, number: str) -> RequestError:
    """The error for an id that does not name anything of the caller's.

    >>> does_not_exist("HIT", "3ABC").turk_error_code
    'AWS.MechanicalTurk.HITDoesNotExist'
    """
    word = "Hit" if kind == "HIT" else kind
    return RequestError(f"{kind}DoesNotExist", f"{word} {number} does not exist.")


def invalid_hit_state(state: str, *allowed: str) -> RequestError:
    return RequestError(
        "InvalidHITState",
        f"This HIT is currently in the state '{state}'.  "
        f"This operation can be called with a status of: {', '.join(allowed)}",
    )


def invalid_state(kind: str, allowed: str) -> RequestError:
    """The error for an assignment, a qualification or a request in the wrong state."""
    return RequestError(
        f"Invalid{kind}State", f"This operation can be called with a status of: {allowed}"
    )


def invalid_value(name: str, value: object) -> RequestError:
    return RequestError(
        "InvalidParameterValue", f'The value "{value}" is not valid for the parameter {name}.'
    )
