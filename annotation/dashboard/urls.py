"""Routes of the dashboard."""

from django.urls import URLPattern, URLResolver, path

import common.web.converters  # noqa: F401  # makes <id:…> known
from annotation.dashboard import (
    crowd,
    crowd_calls,
    crowd_estimate,
    crowd_workers,
    guides,
    views,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("campaigns/<id:campaign_id>/", views.campaign, name="campaign"),
    path("campaigns/<id:campaign_id>/images/<str:name>/", views.image, name="image"),
    path("campaigns/<id:campaign_id>/guides/", guides.guides, name="guides"),
    path("campaigns/<id:campaign_id>/guides/<str:topic>/", guides.guide, name="guide"),
    path("campaigns/<id:campaign_id>/crowd/", crowd.crowd, name="crowd"),
    path("campaigns/<id:campaign_id>/crowd/supply/", crowd.supply, name="crowd-supply"),
    path(
        "campaigns/<id:campaign_id>/crowd/estimate/",
        crowd_estimate.estimate,
        name="crowd-estimate",
    ),
    path("campaigns/<id:campaign_id>/crowd/workers/", crowd_workers.workers, name="crowd-workers"),
    path(
        "campaigns/<id:campaign_id>/crowd/workers/<id:worker_id>/",
        crowd_workers.worker,
        name="crowd-worker",
    ),
    path(
        "campaigns/<id:campaign_id>/crowd/workers/<id:worker_id>/trust/",
        crowd_workers.trust,
        name="crowd-trust",
    ),
    path(
        "campaigns/<id:campaign_id>/crowd/appeals/<id:appeal_id>/",
        crowd_workers.appeal,
        name="crowd-appeal",
    ),
    path("campaigns/<id:campaign_id>/crowd/calls/", crowd_calls.calls, name="crowd-calls"),
    path(
        "campaigns/<id:campaign_id>/crowd/calls/<id:call_id>/retry/",
        crowd_calls.retry,
        name="crowd-retry",
    ),
    path("photos/<str:token>", views.photo, name="photo"),
]
