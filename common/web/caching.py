"""What browsers and proxies may keep of a response: nothing, unless the view says otherwise.

Nearly every page is somebody's: behind a shared computer's Back button, or in a proxy's cache, it
would be somebody else's. Static files never come this far.
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
