"""Every password check: the attempt is counted first, then checked, and forgiven if right."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from common.accounts.addresses import client_address
from common.accounts.attempts import Reservation, attempt_forgive, attempt_reserve
from common.accounts.devices import device_is_known
from common.accounts.rules import wait_in_words

_REFUSAL = "_sign_in_refusal"


class TooManyAttemptsError(PermissionDenied):
    """Too many attempts: no password is checked now. The message gives the time to wait."""

    def __init__(self, reservation: Reservation) -> None:
        self.wait_seconds = reservation.wait_seconds
        super().__init__(
            wait_in_words(reservation.wait_seconds, is_known=reservation.is_known),
        )


class ThrottledBackend(ModelBackend):
    """Django's backend, which checks a password only if the attempt could be counted first."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Check the password, or raise PermissionDenied, so that Django tries no other backend.

        Names without an account are counted and checked in the same way, so that neither the answer
        nor its timing reveals which names exist.
        """
        name = username or ""
        reservation = attempt_reserve(
            name=name,
            address=client_address(request),
            is_known=device_is_known(request, name),
        )
        if reservation.wait_seconds:
            refusal = TooManyAttemptsError(reservation)
            if request is not None:
                setattr(request, _REFUSAL, refusal)
            raise refusal
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is not None:
            attempt_forgive(reservation)
        return user


def refusal_of(request: HttpRequest) -> TooManyAttemptsError | None:
    """Return why this request's password was not checked; None if it was."""
    found = getattr(request, _REFUSAL, None)
    return found if isinstance(found, TooManyAttemptsError) else None


def own_password_check(request: HttpRequest, user: User, password: str) -> bool:
    """Check the password of the signed-in user, for a page that asks for it again.

    Raises TooManyAttemptsError. A session is bound to the password just as a known device is, so
    strangers' failures do not keep the owner from changing the password.
    """
    reservation = attempt_reserve(
        name=user.get_username(), address=client_address(request), is_known=True
    )
    if reservation.wait_seconds:
        refusal = TooManyAttemptsError(reservation)
        setattr(request, _REFUSAL, refusal)
        raise refusal
    is_right = user.check_password(password)
    if is_right:
        attempt_forgive(reservation)
    return is_right


def with_refusal(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Set status 429 and Retry-After on the response if no password was checked."""
    refusal = refusal_of(request)
    if refusal is not None:
        response.status_code = 429
        response.headers["Retry-After"] = str(refusal.wait_seconds)
    return response
