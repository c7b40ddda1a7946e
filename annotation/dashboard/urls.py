"""Routes of the dashboard."""

from django.urls import URLPattern, URLResolver, path

from annotation.dashboard import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("campaigns/<int:campaign_id>/", views.campaign, name="campaign"),
    path("campaigns/<int:campaign_id>/images/<str:name>/", views.image, name="image"),
    path("photos/<str:token>", views.photo, name="photo"),
]
