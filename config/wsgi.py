"""The WSGI entry point, for a production server."""

import os

from django.core.wsgi import get_wsgi_application

from config.services.database_checks import spare_health_checks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
spare_health_checks()
