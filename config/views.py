"""Views that belong to the site rather than to an application."""

import logging
import sys

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.defaults import server_error

from files.trouble import disk_trouble

logger = logging.getLogger(__name__)

DISK_FULL = (
    "Nothing was saved, because the server could not write to its disk. Please try again later. "
    "If you run this site: its log says which file, and what to do."
)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Say "ok" when the database answers, for load balancers and container checks."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("The database does not answer.")
        return HttpResponse("database does not answer", status=503, content_type="text/plain")
    return HttpResponse("ok", content_type="text/plain")


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that failed unforeseen; a full disk is no secret, its files are."""
    words = disk_trouble(sys.exc_info()[1])
    if words is None:
        return server_error(request)
    logger.error("%s: %s", request.path, words)
    return HttpResponse(DISK_FULL, status=507, content_type="text/plain; charset=utf-8")
