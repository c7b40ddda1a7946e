"""Views that belong to the site rather than to an application."""

import logging

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.redis_service import RedisState, redis_state

logger = logging.getLogger(__name__)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether the site can serve, for load balancers and container checks.

    That depends on the database alone: 503 without it. Redis being away is told, but is no reason
    to take the site down. Anybody may read this, so it names states and neither hosts nor errors.
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
