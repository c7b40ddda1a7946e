"""What browsers and proxies may keep of a response: nothing, unless the view says otherwise.

Nearly every page is private. A shared computer's Back button, or a proxy's cache, would show it to
somebody else. Static files do not pass through here.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

HEADER = "Cache-Control"
PRIVATE = "no-store, private"


class PrivatePagesMiddleware:
    """Adds the header unless the view has set one of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request with the header set."""
        response = self.get_response(request)
        response.headers.setdefault(HEADER, PRIVATE)
        return response
