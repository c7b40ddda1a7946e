"""Routes of the worker site."""

from django.urls import URLPattern, URLResolver, path, re_path

from marketplace.site import accounts, record
from marketplace.site import groups as browsing
from marketplace.site import qualifications as qualifying
from marketplace.site import submissions as submitting
from marketplace.site import work as working

app_name = "marketplace"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", browsing.browse, name="browse"),
    path("groups/<str:number>/", browsing.group, name="group"),
    path("groups/<str:number>/accept/", browsing.accept, name="accept"),
    # Addresses that clients of the old service build.
    path("mturk/preview", browsing.old_preview, name="old-preview"),
    path("projects/<str:number>/tasks", browsing.old_project, name="old-project"),
    # turkSubmitTo has no slash at its end, but pages that add one themselves are understood.
    re_path(r"^(?:/)?mturk/externalSubmit$", submitting.external_submit, name="external-submit"),
    path(
        "by/<path:proof>/mturk/externalSubmit",
        submitting.external_submit,
        name="external-submit-by",
    ),
    path("questions/<str:token>/", submitting.question, name="question"),
    path("work/", record.dashboard, name="dashboard"),
    path("work/<str:number>/", working.work, name="work"),
    path("work/<str:number>/return/", working.give_back, name="return"),
    path("work/<str:number>/status/", working.status, name="status"),
    path("earnings/", record.earnings, name="earnings"),
    path("messages/", record.inbox, name="messages"),
    path("qualifications/", qualifying.qualifications, name="qualifications"),
    path("qualifications/<str:number>/", qualifying.qualification, name="qualification"),
    path("qualifications/<str:number>/request/", qualifying.request_make, name="request"),
    path("qualifications/<str:number>/test/", qualifying.qualification_test, name="test"),
    path("login/", accounts.SignInView.as_view(), name="login"),
    path("logout/", accounts.SignOutView.as_view(), name="logout"),
    path("sign-up/", accounts.sign_up, name="sign-up"),
    path("join/", accounts.join, name="join"),
    path("terms/", accounts.terms, name="terms"),
    path("account/", accounts.account, name="account"),
    path("account/password/", accounts.PasswordView.as_view(), name="account-password"),
    path("account/data/", accounts.account_data, name="account-data"),
    path("account/erase/", accounts.account_erase, name="account-erase"),
]
