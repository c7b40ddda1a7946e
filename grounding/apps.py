"""The Django application of the experiments: its table of runs, its pages and tasks."""

from django.apps import AppConfig


class GroundingConfig(AppConfig):
    """Registers the `grounding` label."""

    name = "grounding"
    default_auto_field = "django.db.models.BigAutoField"
