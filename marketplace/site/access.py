"""Who is asking: every page of a worker's own gets the worker only from here."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from common.rows import only_row
from marketplace.models import Worker
from marketplace.selectors.work import unread_count

P = ParamSpec("P")


def account_of(request: HttpRequest) -> User | None:
    """Return the signed-in account."""
    return request.user if isinstance(request.user, User) else None


def worker_of(request: HttpRequest) -> Worker | None:
    """Return the signed-in worker if they have agreed to the terms."""
    user = account_of(request)
    if user is None:
        return None
    return only_row(Worker.objects.filter(user=user, erased_at=None, consented_at__isnull=False))


def worker_required(
    view: Callable[Concatenate[HttpRequest, Worker, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Pass the signed-in worker to the view; others must sign in or join first."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        came_for = request.get_full_path() if request.method == "GET" else ""
        if account_of(request) is None:
            return redirect_to_login(
                came_for or reverse("marketplace:browse"), reverse("marketplace:login")
            )
        worker = worker_of(request)
        if worker is None:
            return redirect("marketplace:join")
        return view(request, worker, *args, **kwargs)

    return wrapped


def page(
    request: HttpRequest,
    worker: Worker | None,
    template: str,
    context: dict[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a page with the data for its header."""
    context = {
        "worker": worker,
        "unread": unread_count(worker) if worker else 0,
        **context,
    }
    return render(request, f"marketplace/{template}", context, status=status)


def notice(
    request: HttpRequest, worker: Worker | None, title: str, text: str, *, status: int
) -> HttpResponse:
    """Say that something is not available, and why."""
    return page(
        request, worker, "notice.html", {"notice_title": title, "notice_text": text}, status=status
    )
