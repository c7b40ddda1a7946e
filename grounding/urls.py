"""Routes of the experiments' pages."""

from django.urls import path

import common.web.converters  # noqa: F401  # makes <id:…> known
from grounding import views

urlpatterns = [
    path("", views.experiments, name="experiments"),
    path("<id:experiment_id>/", views.experiment, name="experiment"),
    path("<id:experiment_id>/retry/", views.retry, name="experiment-retry"),
]
