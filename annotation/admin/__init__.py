"""The administration: view everything, and change it only through the actions."""

from django.contrib import admin

from annotation.admin import chains, crowd, facts, gold, images, money, outbox, people, trust

__all__ = [
    "chains",
    "crowd",
    "facts",
    "gold",
    "images",
    "money",
    "outbox",
    "people",
    "trust",
]

admin.site.site_header = "Chainbox"
admin.site.site_title = "Chainbox"
admin.site.index_title = "Administration"
