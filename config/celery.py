"""The Celery application. The database holds the truth; Celery only wakes workers."""

import logging
import os
from typing import Any

from celery import Celery, Task

from common.files.trouble import disk_trouble

log = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class PlainTask(Task[Any, Any]):
    """A task that reports a full disk in words. The next run does the work left undone."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            words = disk_trouble(error)
            if words is None:
                raise
            log.error("%s was not finished: %s", self.name, words)


app = Celery("chainbox", task_cls=PlainTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
