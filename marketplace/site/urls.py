"""Routes of the worker site."""

from django.urls import URLPattern, URLResolver, path, re_path

from marketplace.site import accounts, groups, qualifications, record, submissions, work

app_name = "marketplace"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", groups.browse, name="browse"),
    path("groups/<str:number>/", groups.group, name="group"),
    path("groups/<str:number>/accept/", groups.accept, name="accept"),
    # Addresses that clients of the old service build.
    path("mturk/preview", groups.old_preview, name="old-preview"),
    path("projects/<str:number>/tasks", groups.old_project, name="old-project"),
    # turkSubmitTo does not end with a slash, but pages that add one work too.
    re_path(r"^(?:/)?mturk/externalSubmit$", submissions.external_submit, name="external-submit"),
    path(
        "by/<path:proof>/mturk/externalSubmit",
        submissions.external_submit,
        name="external-submit-by",
    ),
    path("questions/<str:token>/", submissions.question, name="question"),
    path("work/", record.dashboard, name="dashboard"),
    path("work/<str:number>/", work.work, name="work"),
    path("work/<str:number>/return/", work.give_back, name="return"),
    path("work/<str:number>/status/", work.status, name="status"),
    path("earnings/", record.earnings, name="earnings"),
    path("messages/", record.inbox, name="messages"),
    path("qualifications/", qualifications.qualifications, name="qualifications"),
    path("qualifications/<str:number>/", qualifications.qualification, name="qualification"),
    path("qualifications/<str:number>/request/", qualifications.request_make, name="request"),
    path("qualifications/<str:number>/test/", qualifications.qualification_test, name="test"),
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
