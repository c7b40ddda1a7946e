"""Views that belong to the site rather than to an application."""

import logging
import sys

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.defaults import server_error

from common.files.trouble import disk_trouble
from common.redis_service import RedisState, redis_state

logger = logging.getLogger(__name__)

DISK_FULL = (
    "The server could not write to its disk, so nothing was saved. Please try again later. "
    "If you run this site, see its log for the file and what to do."
)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether the site can serve, for load balancers and container checks.

    Only the database decides: without it the answer is 503. The answer also names the state of
    Redis, but the site works without it. Anybody may read this, so it shows no hosts or errors.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("The database does not answer.")
        return JsonResponse({"status": "unavailable", "database": "away"}, status=503)
    redis = redis_state()
    return JsonResponse(
        {
            "status": "degraded" if redis is RedisState.AWAY else "ok",
            "database": "ok",
            "redis": redis.value,
        }
    )


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that failed unexpectedly. A full disk is reported, but not its files."""
    words = disk_trouble(sys.exc_info()[1])
    if words is None:
        return server_error(request)
    logger.error("%s: %s", request.path, words)
    return HttpResponse(DISK_FULL, status=507, content_type="text/plain; charset=utf-8")
