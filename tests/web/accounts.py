"""Accounts that tests of pages sign in with."""

from django.contrib.auth.models import Permission, User


def researcher() -> User:
    """Make an account that may only view campaigns."""
    made = User.objects.create_user("researcher")
    made.user_permissions.add(
        Permission.objects.get(content_type__app_label="annotation", codename="view_campaign")
    )
    return made
