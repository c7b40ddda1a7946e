"""Settings, routes and processes: what turns the packages into a running site."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
