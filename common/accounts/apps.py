"""The application behind every sign-in."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Counts sign-in attempts and remembers devices."""

    name = "common.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the signals: devices are remembered, and sign-ins logged."""
        import_module("common.accounts.devices")
        import_module("common.accounts.log")
