"""Workers and everything stored about them. Only the marketplace knows who they are."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse

from annotation import models
from annotation.admin.base import ReadOnlyAdmin, stage_words
from annotation.dashboard.trust_words import TRUST, event_lines, standing_row
from annotation.pipeline.crowd.money import dollars
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.crowd.workers import worker_history


class TrustFilter(admin.SimpleListFilter):
    """Workers with this trust at some stage."""

    title = "trust at some stage"
    parameter_name = "trust"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(trust.value, words) for trust, words in TRUST.items()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Worker]
    ) -> QuerySet[models.Worker]:
        if not self.value():
            return queryset
        standings = models.WorkerStanding.objects.filter(trust=self.value())
        return queryset.filter(pk__in=standings.values("worker"))


@admin.register(models.Worker)
class WorkerAdmin(ReadOnlyAdmin):
    """Workers of all campaigns."""

    list_display = ("name", "standings", "assignments", "created_at")
    list_filter = (TrustFilter,)
    search_fields = ("name__startswith",)
    search_help_text = "The beginning of a worker’s name"
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Worker]:
        handed_in = (
            models.Assignment.objects.filter(worker=OuterRef("pk"))
            .order_by()
            .values("worker")
            .annotate(count=Count("pk"))
            .values("count")
        )
        known = models.WorkerStanding.objects.select_related("campaign").order_by("pk")
        rows: QuerySet[models.Worker] = super().get_queryset(request)
        return rows.annotate(
            handed_in=Coalesce(Subquery(handed_in, output_field=IntegerField()), 0)
        ).prefetch_related(Prefetch("standings", queryset=known, to_attr="known_standings"))

    @admin.display(description="standings")
    def standings(self, row: models.Worker) -> str:
        known: list[models.WorkerStanding] = getattr(row, "known_standings", [])
        return "; ".join(
            f"{TRUST[Trust(standing.trust)].lower()} at {stage_words(standing.stage)} "
            f"({standing.campaign.name})"
            for standing in known
        )

    @admin.display(description="assignments")
    def assignments(self, row: models.Worker) -> int:
        count: int = getattr(row, "handed_in", 0)
        return count

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = models.Worker.objects.filter(pk=object_id).first() if _is_key(object_id) else None
        if row is not None and self.has_view_permission(request, row):
            history = worker_history(row)
            extra_context = {
                **(extra_context or {}),
                "title": f"Worker {row.name}",
                "subtitle": None,
                "history": history,
                "standings": [standing_row(line) for line in history.standings],
                "events": event_lines(history.events),
                "sittings": [(count, stage_words(count.stage)) for count in history.sittings],
                "paid": dollars(history.paid_cents),
                "payments": [
                    (payment, stage_words(payment.stage), dollars(payment.cents))
                    for payment in history.payments
                ],
                "may_see_standings": request.user.has_perm("annotation.view_workerstanding"),
                "may_see_payments": request.user.has_perm("annotation.view_payment"),
                "may_see_appeals": request.user.has_perm("annotation.view_appeal"),
            }
        return super().change_view(request, object_id, form_url, extra_context)


def _is_key(text: str) -> bool:
    return text.isdecimal() and len(text) < 19
