"""Routes of the dashboard."""

from django.urls import URLPattern, URLResolver, path

from annotation.dashboard import guides, views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("campaigns/<int:campaign_id>/", views.campaign, name="campaign"),
    path("campaigns/<int:campaign_id>/images/<str:name>/", views.image, name="image"),
    path("campaigns/<int:campaign_id>/guides/", guides.guides, name="guides"),
    path("campaigns/<int:campaign_id>/guides/<str:topic>/", guides.guide, name="guide"),
    path("photos/<str:token>", views.photo, name="photo"),
]
