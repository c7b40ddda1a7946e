"""The page where a reviewer decides about a chain or an image."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from annotation import models
from annotation.actions.protocol.facts import decision_record
from annotation.actions.review.decisions import chain_seen, decision_make
from annotation.admin.base import Admin, detail_context
from annotation.admin.decision_fields import DecisionForm, decision_choices
from annotation.admin.decision_forms import FORMS
from annotation.admin.pictures import image_state, picture_context
from annotation.dashboard.words import fact_words
from annotation.pipeline.protocol.facts import FactRefusedError, decode_body
from annotation.pipeline.protocol.state import find_chain
from annotation.selectors.campaign.overview import image_facts

DECIDE = "annotation.change_chain"


def decide(
    model_admin: Admin, request: HttpRequest, image: models.Image, number: int | None, row: Any
) -> HttpResponse:
    """Show a form for each possible decision; carry out the one that was sent."""
    if not request.user.has_perm(DECIDE):
        raise PermissionDenied
    state = image_state(image)
    if state is None:
        messages.error(request, f"Image {image.name} was withdrawn: there is nothing to decide.")
        return redirect("admin:annotation_image_change", image.pk)
    facts = image_facts(image)
    choices = decision_choices([(fact.number, decode_body(fact.body)) for fact in facts], state)
    chain = find_chain(state, number) if number is not None else None
    forms = {
        name: form(state, chain, decisions=choices)
        for name, form in FORMS.items()
        if form.applies(state, chain)
    }
    refusal = ""
    if request.method == "POST":
        name = request.POST.get("decision", "")
        if name not in forms:
            refusal = "This decision is not possible here."
        else:
            sent = FORMS[name](state, chain, request.POST, decisions=choices)
            forms[name] = sent
            if sent.is_valid():
                refusal = _carry_out(request, image, number, sent)
                if not refusal:
                    return _onwards(image, number)
            else:
                refusal = "Please correct the errors below."
    context = {
        **detail_context(model_admin, request, row),
        **picture_context(image, state, number, facts),
        "title": f"Decide about {f'chain {number}' if number else 'the image'}",
        "subtitle": image.name,
        "forms": forms.values(),
        "refusal": refusal,
        "sent": request.POST.get("decision", ""),
        # After a refusal the page shows the current state.
        "seen": chain_seen(state, number) if number is not None else "",
    }
    return TemplateResponse(
        request, "admin/annotation/decide.html", context, status=422 if refusal else 200
    )


def _carry_out(
    request: HttpRequest, image: models.Image, number: int | None, form: DecisionForm
) -> str:
    """Record the decision; return why it was refused, or an empty text."""
    assert request.user.pk is not None  # the permission requires signing in
    decision = form.decision(request.user.pk)
    try:
        if number is None:
            outcome = decision_record(image_id=image.pk, decision=decision)
        else:
            outcome = decision_make(
                image_id=image.pk,
                chain=number,
                seen=request.POST.get("seen", ""),
                decision=decision,
            )
    except FactRefusedError as error:
        return f"Refused: {error}."
    words = fact_words(decision, outcome.state)
    messages.success(request, f"Fact {outcome.recorded[0].number}: {words}.")
    return ""


def _onwards(image: models.Image, number: int | None) -> HttpResponse:
    """Go to the chain, or to its image if the chain no longer exists."""
    row = models.Chain.objects.filter(image=image, number=number or 0).first()
    if row is None:
        return redirect("admin:annotation_image_change", image.pk)
    return redirect("admin:annotation_chain_change", row.pk)
