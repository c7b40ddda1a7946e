"""The sign-in page, and code that every page that asks for a password shares."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpResponse

from common.accounts.devices import device_remember
from common.accounts.forms import ThrottledPasswordChangeForm
from common.accounts.passwords import refusal_of, with_refusal


class ThrottledLoginView(LoginView):
    """A sign-in page that tells people how long to wait after too many attempts."""

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Answer 429 with Retry-After when no password was evaluated."""
        refusal = refusal_of(self.request)
        if refusal is not None:
            form.errors.clear()
            form.add_error(None, str(refusal))
        return with_refusal(self.request, super().form_invalid(form))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Tell the template whether the visitor has to wait."""
        return super().get_context_data(**kwargs) | {"has_to_wait": bool(refusal_of(self.request))}


class ThrottledPasswordChangeView(PasswordChangeView):
    """A page for a new password. It asks for the old one, with the same limits as signing in."""

    form_class = ThrottledPasswordChangeForm

    def get_form_kwargs(self) -> dict[str, Any]:
        """Pass the request to the form, which counts the attempt."""
        return super().get_form_kwargs() | {"request": self.request}

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Change the password; only this device stays known."""
        response = super().form_valid(form)
        assert isinstance(self.request.user, User)
        device_remember(self.request, self.request.user)
        return response

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        """Answer 429 with Retry-After when no password was evaluated."""
        return with_refusal(self.request, super().form_invalid(form))
