"""The Django application that holds the annotation side."""

from importlib import import_module

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Registers the `annotation` label."""

    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks."""
        import_module("annotation.hits.checks")
