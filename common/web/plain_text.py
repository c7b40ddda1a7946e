"""Refuses NUL, which no text may contain, in one place for all pages and forms.

PostgreSQL cannot store NUL in text, but SQLite can. A NUL would cause a failure somewhere: an error
page at once, or a failed backup much later. JSON is checked where it is decoded.
"""

from collections.abc import Callable, Iterable

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase, QueryDict, UnreadablePostError

NUL = "\0"
WORDS = "The address, the form or a cookie holds a character that is no text (NUL)."
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class PlainTextMiddleware:
    """Answers 400 to a request with a NUL in the path, the query, a cookie or a form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Check the parts that every request has."""
        if NUL in request.path or _has_nul(request.GET) or _any_nul(request.COOKIES.items()):
            raise BadRequest(WORDS)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], *_: object
    ) -> None:
        """Check a form just before its view reads it."""
        if request.content_type not in FORMS or getattr(view, "csrf_exempt", False):
            return  # Data from programs and other sites' forms is cleaned where it is read.
        length = str(request.META.get("CONTENT_LENGTH") or 0)
        if not length.isdecimal() or int(length[:20]) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            # None of our forms takes files: this is longer than any of them can be.
            raise RequestDataTooBig("The form is too long.")
        try:
            form = request.POST
        except UnreadablePostError:
            return  # The sender has disconnected.
        if _has_nul(form):
            raise BadRequest(WORDS)


def _has_nul(values: QueryDict) -> bool:
    return _any_nul((name, *listed) for name, listed in values.lists())


def _any_nul(rows: Iterable[tuple[object, ...]]) -> bool:
    return any(NUL in str(value) for row in rows for value in row)
