"""The ways in which a call to the marketplace can fail."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    ParamValidationError,
)

PREFIX = "AWS.MechanicalTurk."
# The key is wrong or unknown, or the clock is wrong: after a correction, the call goes through.
_OUR_SETTINGS = {
    "AccessDeniedException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
}
_TOO_MANY = {
    "RequestLimitExceeded",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
# Every error message ends with the time, so no two messages would be equal.
_TIME = re.compile(r"\s*\([0-9]{10,}(?: [a-z]+)?\)$")


class CrowdError(Exception):
    """A call that was not carried out, or whose outcome is unknown."""


class TryAgainError(CrowdError):
    """A call that may succeed later; if `slow`, only after somebody has fixed the cause."""

    def __init__(self, message: str, *, slow: bool = False) -> None:
        super().__init__(message)
        self.slow = slow


class UnreachableError(TryAgainError):
    """No answer came, so we do not know whether the marketplace carried out the call."""


class RefusedError(CrowdError):
    """The marketplace refuses and would refuse again. `code` is MTurk's, without its prefix."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message


def sorted_error(error: Exception, workers: Collection[str] = ()) -> CrowdError:
    """Return our error for one of boto3's. Its message leaves out the workers' names.

    Messages are stored, and erasing a worker would otherwise have to search them.
    """
    if isinstance(error, ClientError):
        return _answered(error, workers)
    if isinstance(error, ParamValidationError):
        return RefusedError("ParamValidation", without_names(str(error), workers))
    # Even without a readable answer, the call may have been carried out.
    words = without_names(f"{type(error).__name__}: {error}", workers)
    unreachable = isinstance(error, HTTPClientError | ConnectionError)
    return UnreachableError(words) if unreachable else TryAgainError(words)


def is_own_answer(answer: Mapping[str, Any]) -> bool:
    """Tell whether the answer comes from the marketplace itself and not from a proxy in between.

    Otherwise a proxy's page with status 200 would pass for success: botocore reads nothing where an
    operation has no result.
    """
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return "amz-json" in str(headers.get("content-type", ""))


def stranger_error(answer: Mapping[str, Any]) -> TryAgainError:
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return TryAgainError(f"Another server answered in place of the marketplace (HTTP {status}).")


def without_names(words: str, workers: Collection[str]) -> str:
    """Return the text without the workers' names."""
    for worker in workers:
        words = words.replace(worker, "(the worker)")
    return words


def _answered(error: ClientError, workers: Collection[str]) -> CrowdError:
    answer: dict[str, Any] = dict(error.response)
    if not is_own_answer(answer):
        return stranger_error(answer)
    general = str(answer.get("Error", {}).get("Code", ""))
    code = str(answer.get("TurkErrorCode") or general).removeprefix(PREFIX)
    message = _TIME.sub("", str(answer.get("Message") or answer.get("Error", {}).get("Message")))
    message = without_names(message, workers)
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _OUR_SETTINGS or code == "InsufficientFunds":
        return TryAgainError(f"{code}: {message}", slow=True)
    if status >= 500 or status == 429 or {code, general} & _TOO_MANY:
        return TryAgainError(f"{code}: {message}")
    return RefusedError(code, message)
