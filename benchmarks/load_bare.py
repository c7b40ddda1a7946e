"""Django's own speed on this machine: a view with one query, behind the site's own server."""

import os
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path

from config.server import Server


def view(request: HttpRequest) -> HttpResponse:
    """Read one row."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM annotation_campaign LIMIT 1")
        return HttpResponse(cursor.fetchone()[0])


urlpatterns = [path("bare", view)]


class BareServer(Server):
    """The server with the same limits, processes and threads, but without the site."""

    def load(self) -> Callable[..., Any]:
        """Return Django without applications and middleware."""
        from django.conf import settings
        from django.core.wsgi import get_wsgi_application

        from config.services.database import database_from_url
        from config.settings import BASE_DIR

        settings.configure(
            ALLOWED_HOSTS=["127.0.0.1"],
            ROOT_URLCONF="benchmarks.load_bare",
            DATABASES={"default": database_from_url(os.environ["DATABASE_URL"], base=BASE_DIR)},
        )
        return get_wsgi_application()


if __name__ == "__main__":
    BareServer().run()
