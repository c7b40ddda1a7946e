"""The API's one address."""

from django.urls import path

from marketplace.api.wire import api

urlpatterns = [path("", api, name="marketplace-api")]
