"""The Django application of the marketplace."""

from django.apps import AppConfig


class MarketplaceConfig(AppConfig):
    """Registers the `marketplace` label."""

    name = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"
