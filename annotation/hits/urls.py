"""Routes of the task pages and of their script's endpoints."""

from django.urls import path

import common.web.converters  # noqa: F401  # makes <id:…> known
from annotation.hits import appeals, endpoints, views

app_name = "hits"
urlpatterns = [
    path("api/open", endpoints.open_, name="api-open"),
    path("api/draft", endpoints.draft, name="api-draft"),
    path("api/finish", endpoints.finish, name="api-finish"),
    path("api/consent", endpoints.consent, name="api-consent"),
    path("appeal/<str:token>/", appeals.appeal, name="appeal"),
    path("<id:campaign_id>/<str:stage>/", views.page, name="page"),
    path("<id:campaign_id>/<str:stage>/test/", views.test, name="test"),
    path("<id:campaign_id>/<str:stage>/examples/", views.examples, name="examples"),
]
