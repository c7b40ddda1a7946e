"""Signing up and in, consent, and a worker's own account: view, download, erase."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.models import User
from django.contrib.auth.views import LogoutView
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from common.accounts.passwords import with_refusal
from common.accounts.views import ThrottledLoginView, ThrottledPasswordChangeView
from marketplace.actions.workers import (
    SignUpRefusedError,
    invitation_is_good,
    worker_erase,
    worker_join,
    worker_sign_up,
    worker_update,
)
from marketplace.models import Worker
from marketplace.selectors.earnings import worker_data
from marketplace.site.access import account_of, notice, page, worker_of, worker_required
from marketplace.site.forms import AboutForm, EraseForm, JoinForm, SignUpForm


class SignInView(ThrottledLoginView):
    """The workers' sign-in page."""

    template_name = "marketplace/sign_in.html"

    def get_default_redirect_url(self) -> str:
        """Go to the HITs, unless the worker asked for another page."""
        return reverse("marketplace:browse")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Offer sign-up only where it is open to anybody."""
        return super().get_context_data(**kwargs) | {
            "open_sign_up": settings.MARKETPLACE_OPEN_SIGN_UP
        }


class SignOutView(LogoutView):
    """Ends the session, by POST only."""

    def get_default_redirect_url(self) -> str:
        """Go back to the sign-in page."""
        return reverse("marketplace:login")


class PasswordView(ThrottledPasswordChangeView):
    """A new password, for the signed-in user."""

    template_name = "marketplace/password.html"

    def get_login_url(self) -> str:
        """Send others to the workers' sign-in page."""
        return reverse("marketplace:login")

    def get_success_url(self) -> str:
        """Go back to the account."""
        messages.success(self.request, "Your password has been changed.")
        return reverse("marketplace:account")


@require_safe
def terms(request: HttpRequest) -> HttpResponse:
    """The terms, in plain words."""
    return page(request, worker_of(request), "terms.html", {})


@sensitive_post_parameters("password", "password_again")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account; without an invitation only where sign-up is open."""
    if account_of(request) is not None:
        return redirect("marketplace:browse")
    code = request.POST.get("code", "") or request.GET.get("code", "")
    is_open: bool = settings.MARKETPLACE_OPEN_SIGN_UP
    if code and not invitation_is_good(code=code):
        return notice(
            request,
            None,
            "This invitation is no longer valid",
            "It has expired, or all of its places have been used.",
            status=410,
        )
    if not code and not is_open:
        return notice(
            request,
            None,
            "By invitation only",
            "You need an invitation link to sign up. Ask the person who told you about this site.",
            status=200,
        )
    form = SignUpForm(request.POST or None, initial={"code": code})
    if request.method == "POST" and form.is_valid():
        user = _made(form, code=code, open_to_all=is_open)
        if user is not None:
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
            messages.success(request, "Welcome! Your account is ready.")
            return redirect("marketplace:browse")
    status = 400 if form.is_bound else 200
    return page(request, None, "sign_up.html", {"form": form}, status=status)


def _made(form: SignUpForm, *, code: str, open_to_all: bool) -> User | None:
    given = form.cleaned_data
    try:
        worker = worker_sign_up(
            username=given["username"],
            password=given["password"],
            email=given["email"],
            country=given["country"],
            subdivision=given["subdivision"],
            is_adult=given["is_adult"],
            open_to_all=open_to_all,
            code=code,
        )
    except SignUpRefusedError as error:
        form.add_error(None, str(error))
        return None
    except IntegrityError:  # somebody took the name at this very moment
        form.add_error("username", "This name is taken. Please choose another.")
        return None
    return worker.user


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest) -> HttpResponse:
    """Ask an account's owner for a worker's details and for consent."""
    user = account_of(request)
    if user is None:
        return redirect(f"{reverse('marketplace:login')}?next={reverse('marketplace:join')}")
    if worker_of(request) is not None:
        return redirect("marketplace:browse")
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        worker_join(
            user=user,
            country=given["country"],
            subdivision=given["subdivision"],
            is_adult=given["is_adult"],
        )
        return redirect("marketplace:browse")
    status = 400 if form.is_bound else 200
    return page(request, None, "join.html", {"form": form}, status=status)


@worker_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The worker's details, with links to download the data and to leave."""
    form = AboutForm(
        request.POST or None,
        initial={
            "country": worker.country,
            "subdivision": worker.subdivision,
            "is_adult": worker.is_adult,
        },
    )
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        worker_update(
            worker=worker,
            country=given["country"],
            subdivision=given["subdivision"],
            is_adult=given["is_adult"],
        )
        messages.success(request, "Saved.")
        return redirect("marketplace:account")
    status = 400 if form.is_bound else 200
    return page(
        request, worker, "account.html", {"form": form, "section": "account"}, status=status
    )


@worker_required
@require_safe
def account_data(request: HttpRequest, worker: Worker) -> HttpResponse:
    """All data that is stored about the worker, as a file."""
    response = JsonResponse(worker_data(worker), json_dumps_params={"indent": 2})
    response.headers["Content-Disposition"] = (
        f'attachment; filename="marketplace-{worker.worker_id}.json"'
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@sensitive_post_parameters("password")
@worker_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_erase(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Erase the account, after asking for the password."""
    user = account_of(request)
    assert user is not None
    form = EraseForm(request, user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        worker_erase(worker=worker)
        logout(request)
        return notice(
            request,
            None,
            "Your account has been erased",
            "Your worker id can no longer be traced back to you. Thank you for your work.",
            status=200,
        )
    status = 400 if form.is_bound else 200
    response = page(
        request, worker, "erase.html", {"form": form, "section": "account"}, status=status
    )
    return with_refusal(request, response)
