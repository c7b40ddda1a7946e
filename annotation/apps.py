"""The Django application that holds the annotation side."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Registers the `annotation` label."""

    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"
