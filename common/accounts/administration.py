"""Django's administration as an application, with our own site in it."""

from django.contrib.admin.apps import AdminConfig


class AdministrationConfig(AdminConfig):
    """Has the administration ask for passwords as every other page does."""

    default_site = "common.accounts.admin_site.AdministrationSite"
