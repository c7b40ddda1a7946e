"""All routes. tests/web/site/test_permissions.py must list who may see each."""

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from annotation.hits.notifications import notifications
from common.accounts.views import ThrottledLoginView
from config.views import healthz

handler500 = "config.views.failed"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("accounts/login/", ThrottledLoginView.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    # Our own sign-in page, for everybody.
    path(
        "admin/login/",
        RedirectView.as_view(pattern_name="login", query_string=True),
        name="admin-login",
    ),
    path("admin/", admin.site.urls),
    # Some clients put a slash after their endpoint_url and others do not, and they sign the path.
    re_path(r"^marketplace/api/?", include("marketplace.api.urls")),
    path("marketplace/", include("marketplace.site.urls")),
    path("hits/", include("annotation.hits.urls")),
    path("crowd/notifications", notifications, name="crowd-notifications"),
    path("experiments/", include("grounding.urls")),
    path("", include("annotation.dashboard.urls")),
]
