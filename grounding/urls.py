"""Routes of the experiments' pages."""

from django.urls import path

from grounding import views

urlpatterns = [
    path("", views.experiments, name="experiments"),
    path("<int:experiment_id>/", views.experiment, name="experiment"),
    path("<int:experiment_id>/retry/", views.retry, name="experiment-retry"),
]
