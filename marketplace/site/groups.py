"""Finding work: groups of HITs, a preview, and accepting."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from marketplace.actions.assignments import (
    WorkRefusedError,
    assignment_accept,
    assignment_accept_any,
)
from marketplace.models import HIT, HITType, Worker
from marketplace.rules.groups import hit_type_id_of
from marketplace.rules.questions import QuestionForm
from marketplace.selectors.browse import (
    Group,
    group_find,
    groups_found,
    hit_to_preview,
    hit_type_find,
)
from marketplace.site.access import notice, page, worker_required
from marketplace.site.formpage import FormPage
from marketplace.site.forms import BrowseForm
from marketplace.site.frames import Frame, frame_for, question_of
from marketplace.site.policy import allow_frame, allow_media

PER_PAGE = 25
NO_GROUP = "There is no such group of HITs"
NO_GROUP_TEXT = "Its HITs are finished, or they are not open to you."


@worker_required
@require_safe
def browse(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Groups of HITs to choose from."""
    form = BrowseForm(request.GET or None, initial={"sort": "newest"})
    wanted = BrowseForm(request.GET).wanted()
    found = Paginator(groups_found(worker, wanted), PER_PAGE).get_page(request.GET.get("page"))
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "form": form,
        "groups": found,
        "pages": found.paginator.get_elided_page_range(found.number, on_each_side=1),
        "kept": kept.urlencode(),
        "is_filtered": bool(wanted.text or wanted.minimum_cents or wanted.qualified_only),
        "section": "browse",
    }
    return page(request, worker, "browse.html", context)


@worker_required
@require_safe
def group(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """One group, with a preview of the next HIT in it."""
    hit_type = _hit_type(number)
    found = group_find(worker, hit_type) if hit_type else None
    if hit_type is None or found is None:
        return notice(request, worker, NO_GROUP, NO_GROUP_TEXT, status=404)
    hit = None
    if found.available and found.no_preview is None:
        hit = hit_to_preview(worker, hit_type, request.GET.get("hit", ""))
    return _preview(request, worker, found, hit)


def _preview(request: HttpRequest, worker: Worker, found: Group, hit: HIT | None) -> HttpResponse:
    question = question_of(hit) if hit else None
    frame: Frame | None = None
    if hit is not None and question is not None:
        frame = frame_for(request, hit, question)
    context = {
        "group": found,
        "hit": hit,
        "frame": frame,
        "form_page": FormPage(question, None, []) if isinstance(question, QuestionForm) else None,
        "section": "browse",
    }
    response = page(request, worker, "group.html", context)
    return allow_frame(response, frame.url) if frame else allow_media(response)


@worker_required
@require_POST
def accept(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """Accept the previewed HIT, or any of the group if it is gone or none was named."""
    hit_type = _hit_type(number)
    if hit_type is None:
        return notice(request, worker, NO_GROUP, NO_GROUP_TEXT, status=404)
    asked = request.POST.get("hit", "")
    hit = hit_to_preview(worker, hit_type, asked) if asked else None
    try:
        if hit is not None and hit.hit_id == asked:
            try:
                made = assignment_accept(hit_id=hit.pk, worker=worker)
            except WorkRefusedError:  # somebody was quicker: take another HIT of the group
                made = assignment_accept_any(hit_type_id=hit_type.pk, worker=worker)
        else:
            made = assignment_accept_any(hit_type_id=hit_type.pk, worker=worker)
    except WorkRefusedError as error:
        messages.warning(request, str(error))
        return redirect("marketplace:group", number=hit_type.hit_type_id)
    path = reverse("marketplace:work", kwargs={"number": made.assignment_id})
    return redirect(f"{path}?auto=1" if request.POST.get("auto") else path)


@worker_required
@require_safe
def old_preview(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The address that clients of the old service build: /mturk/preview?groupId=…"""
    return _to_group(request, worker, request.GET.get("groupId", ""))


@worker_required
@require_safe
def old_project(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """The other such address: /projects/…/tasks"""
    return _to_group(request, worker, number)


def _to_group(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    hit_type = _hit_type(number)
    if hit_type is None:
        return notice(request, worker, NO_GROUP, NO_GROUP_TEXT, status=404)
    return redirect("marketplace:group", number=hit_type.hit_type_id)


def _hit_type(number: str) -> HITType | None:
    """Return the type that either of a group's two ids names."""
    found = hit_type_find(number)
    other = None if found else hit_type_id_of(number)
    return hit_type_find(other) if other else found
