"""The Content-Security-Policy of every response (Django 5.2 has none of its own).

The policy allows only what comes from this site. A view that needs more, or less, replaces single
directives with `policy_set`; no other module builds a policy.
"""

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest, HttpResponseBase

POLICY: dict[str, str] = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
HEADER = "Content-Security-Policy"

R = TypeVar("R", bound=HttpResponseBase)


def policy_text(**changes: str) -> str:
    """Return the policy with some directives replaced or added.

    >>> policy_text(img_src="'self' blob:").split("; ")[3]
    "img-src 'self' blob:"
    """
    policy = POLICY | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in policy.items())


def sandbox_text(allowed: str, *, frame_ancestors: str) -> str:
    """Return the policy of somebody else's page: it may load anything, but acts as nobody."""
    return f"sandbox {allowed}; frame-ancestors {frame_ancestors}"


def policy_set(response: R, **changes: str) -> R:
    """Give a response its own policy: `policy_set(response, frame_ancestors="'self'")`."""
    response.headers[HEADER] = policy_text(**changes)
    return response


class ContentSecurityPolicyMiddleware:
    """Adds the policy unless the view has set one of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request with the header set."""
        response = self.get_response(request)
        response.headers.setdefault(HEADER, policy_text())
        return response
