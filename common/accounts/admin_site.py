"""The administration's pages that ask for a password."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from common.accounts.views import ThrottledPasswordChangeView


class AdministrationSite(AdminSite):
    """Django's admin site, with the sign-in limits on the page that changes a password."""

    def password_change(  # type: ignore[override]  # a change that went well redirects
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show or process the form for a new password."""
        view = ThrottledPasswordChangeView.as_view(
            success_url=reverse("admin:password_change_done", current_app=self.name),
            extra_context={**self.each_context(request), **(extra_context or {})},
        )
        response = view(request)
        assert isinstance(response, HttpResponse)
        return response
