"""Chains: a list, a page with each chain's boxes over the photo, and decisions about it."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path

import common.web.converters  # noqa: F401  # makes <id:…> known
from annotation import models
from annotation.admin.base import ReadOnlyAdmin, one_line
from annotation.admin.pictures import image_state, picture_context
from annotation.admin.review import DECIDE, decide
from annotation.dashboard.words import PHASES
from annotation.pipeline.mentions.mention import ENTITY_TYPES, mention_text
from annotation.pipeline.protocol.state import Phase, mentions_of
from annotation.selectors.campaign.overview import image_facts

REASONS_LISTED = 20


class TypeFilter(admin.SimpleListFilter):
    """Chains with a mention of a type."""

    title = "type"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in ENTITY_TYPES]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Chain]
    ) -> QuerySet[models.Chain]:
        # No type's name is part of another's.
        kind = self.value()
        return queryset.filter(types__contains=kind) if kind else queryset


class ReviewFilter(admin.SimpleListFilter):
    """Chains in review, by reason."""

    title = "reason for review"
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        waiting = models.Chain.objects.filter(phase=Phase.REVIEW.value).exclude(review="")
        reasons = waiting.values_list("review").annotate(chains=Count("pk"))
        return [
            (reason, f"{one_line(reason, 60)} ({chains})")
            for reason, chains in reasons.order_by("-chains", "review")[:REASONS_LISTED]
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Chain]
    ) -> QuerySet[models.Chain]:
        if not self.value():
            return queryset
        return queryset.filter(phase=Phase.REVIEW.value, review=self.value())


class PhaseFilter(admin.SimpleListFilter):
    """By phase."""

    title = "phase"
    parameter_name = "phase"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(PHASES.items())

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Chain]
    ) -> QuerySet[models.Chain]:
        return queryset.filter(phase=self.value()) if self.value() else queryset


@admin.register(models.Chain)
class ChainAdmin(ReadOnlyAdmin):
    """Chains of the stored state."""

    list_display = ("chain", "phrases", "image_name", "campaign", "types", "phase_words", "reason")
    list_filter = ("image__campaign", PhaseFilter, TypeFilter, ReviewFilter)
    list_select_related = ("image__campaign", "image__stored_state")
    search_fields = ("image__name__startswith",)
    search_help_text = "The beginning of an image’s name"
    ordering = ("image_id", "number")

    @admin.display(description="chain")
    def chain(self, row: models.Chain) -> str:
        return f"chain {row.number}"

    @admin.display(description="image")
    def image_name(self, row: models.Chain) -> str:
        return row.image.name

    @admin.display(description="campaign")
    def campaign(self, row: models.Chain) -> str:
        return row.image.campaign.name

    @admin.display(description="phrases")
    def phrases(self, row: models.Chain) -> str:
        state = image_state(row.image)
        if state is None:
            return ""
        mentions = mentions_of(state, row.mentions)
        return one_line(" · ".join(mention_text(m, state.captions) for m in mentions))

    @admin.display(description="phase")
    def phase_words(self, row: models.Chain) -> str:
        return PHASES[row.phase]

    @admin.display(description="reason for review")
    def reason(self, row: models.Chain) -> str:
        return row.review if row.phase == Phase.REVIEW.value else ""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide_view)
        return [
            path("<id:pk>/decide/", view, name="annotation_chain_decide"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = _chain(object_id)
        if row is not None and self.has_view_permission(request, row):
            state = image_state(row.image)
            extra_context = {
                **(extra_context or {}),
                **picture_context(row.image, state, row.number, image_facts(row.image)),
                "title": f"Chain {row.number}",
                "subtitle": row.image.name,
                "phase_words": PHASES[row.phase],
                "may_decide": request.user.has_perm(DECIDE),
            }
        return super().change_view(request, object_id, form_url, extra_context)

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Decide about a chain."""
        row = _chain(str(pk))
        if row is None:
            raise Http404
        return decide(self, request, row.image, row.number, row)


def _chain(pk: str) -> models.Chain | None:
    if not pk.isdecimal() or len(pk) > 18:
        return None
    return (
        models.Chain.objects.select_related("image__campaign", "image__stored_state")
        .filter(pk=int(pk))
        .first()
    )
