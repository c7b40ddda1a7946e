"""The Celery application. The database holds the truth; Celery only wakes workers."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("chainbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
