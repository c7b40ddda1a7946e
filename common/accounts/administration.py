"""Django's administration as an application, with our own site in it."""

from django.contrib.admin.apps import AdminConfig


class AdministrationConfig(AdminConfig):
    """Uses our admin site, so that the administration checks passwords like all other pages."""

    default_site = "common.accounts.admin_site.AdministrationSite"
