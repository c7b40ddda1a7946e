"""Forms that ask signed-in people for their password again."""

from typing import Any

from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from common.accounts.passwords import TooManyAttemptsError, own_password_check


def own_password_clean(request: HttpRequest, user: User, password: str, *, wrong: str) -> str:
    """Return the password if it is right; otherwise raise what a form shows."""
    try:
        is_right = own_password_check(request, user, password)
    except TooManyAttemptsError as error:
        raise ValidationError(str(error), code="throttled") from error
    if not is_right:
        raise ValidationError(wrong, code="password_incorrect")
    return password


class ThrottledPasswordChangeForm(PasswordChangeForm):
    """Django's form, with the same limit on attempts as signing in."""

    def __init__(self, user: User, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        """Refuse a wrong password, and too many attempts."""
        return own_password_clean(
            self.request,
            self.user,
            str(self.cleaned_data["old_password"]),
            wrong=str(self.error_messages["password_incorrect"]),
        )
