"""Standings and appeals: workers' trust by stage, and researchers' decisions about it."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotation import models
from annotation.actions.trust.standing import (
    AppealRefusedError,
    appeal_decide,
    trust_reinstate,
    trust_revoke,
)
from annotation.admin.base import ReadOnlyAdmin, StageFilter, one_line, stage_words
from annotation.dashboard.trust_words import TRUST, EventLine, event_lines
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust, decode_event

EVENTS_SHOWN = 200


class RevokeForm(forms.Form):
    reason = forms.CharField(
        label="Reason (the worker will see this)",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            "The worker gets no further questions, and questions with doubtful answers from them "
            "are asked again. Do not name anyone: this text stays in the record even if the "
            "worker is erased."
        ),
    )


class ReinstateForm(forms.Form):
    trusted = forms.BooleanField(
        label="Reinstate as trusted, without probation",
        required=False,
        help_text=(
            "Checks start again from zero. Existing doubts about the worker’s judgments remain."
        ),
    )


class AppealForm(forms.Form):
    reinstate = forms.TypedChoiceField(
        label="Decision",
        coerce=lambda value: value == "1",
        choices=[("", "Choose"), ("1", "Reinstate on probation"), ("0", "Keep revoked")],
    )
    reply = forms.CharField(
        label="Your message to the worker",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class TrustFilter(admin.SimpleListFilter):
    """By trust."""

    title = "trust"
    parameter_name = "trust"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(trust.value, words) for trust, words in TRUST.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(trust=self.value()) if self.value() else queryset


@admin.register(models.WorkerStanding)
class WorkerStandingAdmin(ReadOnlyAdmin):
    """Workers' standings; revoking and reinstating are admin actions."""

    list_display = ("worker", "stage_name", "campaign", "trust_words", "accuracy", "updated_at")
    list_filter = ("campaign", StageFilter, TrustFilter)
    list_select_related = ("worker", "campaign")
    search_fields = ("worker__name__startswith",)
    search_help_text = "The beginning of a worker’s name"
    ordering = ("-updated_at", "-pk")
    actions = ("revoke", "reinstate")
    fields = ("worker", "campaign", "stage_name", "trust_words", "accuracy", "reason", "happened")
    readonly_fields = ("stage_name", "trust_words", "accuracy", "reason", "happened")

    def row_words(self, row: models.WorkerStanding) -> str:
        trust = self.trust_words(row).lower()
        return f"{row.worker.name}, {trust} at {self.stage_name(row)} of {row.campaign.name}"

    @admin.display(description="stage")
    def stage_name(self, row: models.WorkerStanding) -> str:
        return stage_words(row.stage)

    @admin.display(description="trust")
    def trust_words(self, row: models.WorkerStanding) -> str:
        return TRUST[Trust(row.trust)]

    @admin.display(description="accuracy")
    def accuracy(self, row: models.WorkerStanding) -> str:
        checks = row.standing.now.accuracy
        return f"{checks} ({checks.right} of {checks.checks})" if checks.checks else str(checks)

    @admin.display(description="why trust was lost")
    def reason(self, row: models.WorkerStanding) -> str:
        return row.standing.reason or "–"

    @admin.display(description="history")
    def happened(self, row: models.WorkerStanding) -> str:
        events = models.TrustEvent.objects.filter(
            campaign=row.campaign_id, worker=row.worker_id, stage=row.stage
        ).order_by("-pk")[:EVENTS_SHOWN]
        lines = event_lines((event, decode_event(event.body)) for event in events)
        return "\n".join(_event_text(line) for line in lines) or "–"

    @admin.action(description="Revoke trust …", permissions=["act"])
    def revoke(
        self, request: HttpRequest, rows: QuerySet[models.WorkerStanding]
    ) -> HttpResponse | None:
        return self.ask_and_do(
            request,
            rows.exclude(trust=Trust.REVOKED.value),
            action="revoke",
            form_class=RevokeForm,
            title="Revoke trust",
            button="Revoke",
            done="revoked",
            do=lambda row, given: trust_revoke(
                campaign=row.campaign,
                worker=row.worker,
                stage=Stage(row.stage),
                reason=given["reason"],
                by=request.user.get_username(),
            ),
        )

    @admin.action(description="Reinstate …", permissions=["act"])
    def reinstate(
        self, request: HttpRequest, rows: QuerySet[models.WorkerStanding]
    ) -> HttpResponse | None:
        return self.ask_and_do(
            request,
            rows.filter(trust=Trust.REVOKED.value),
            action="reinstate",
            form_class=ReinstateForm,
            title="Reinstate workers",
            button="Reinstate",
            done="reinstated",
            do=lambda row, given: trust_reinstate(
                campaign=row.campaign,
                worker=row.worker,
                stage=Stage(row.stage),
                trusted=given["trusted"],
                by=request.user.get_username(),
            ),
        )


def _event_text(line: EventLine) -> str:
    by = f" (by {line.event.by})" if line.event.by else ""
    return f"{line.event.created_at:%Y-%m-%d %H:%M}: {line.words}{by}"


class AppealStageFilter(StageFilter):
    """By the stage of its standing."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(standing__stage=self.value()) if self.value() else queryset


@admin.register(models.Appeal)
class AppealAdmin(ReadOnlyAdmin):
    """Appeals; deciding one is an admin action."""

    list_display = ("worker", "stage_name", "campaign", "beginning", "created_at", "decided")
    list_filter = (
        "standing__campaign",
        AppealStageFilter,
        ("decided_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("standing__worker", "standing__campaign")
    search_fields = ("standing__worker__name__startswith",)
    search_help_text = "The beginning of a worker’s name"
    ordering = ("-pk",)
    actions = ("decide",)

    def row_words(self, row: models.Appeal) -> str:
        return f"{row.standing.worker.name}, {self.stage_name(row)}: {row.words}"

    @admin.display(description="worker")
    def worker(self, row: models.Appeal) -> str:
        return row.standing.worker.name

    @admin.display(description="stage")
    def stage_name(self, row: models.Appeal) -> str:
        return stage_words(row.standing.stage)

    @admin.display(description="campaign")
    def campaign(self, row: models.Appeal) -> str:
        return row.standing.campaign.name

    @admin.display(description="message")
    def beginning(self, row: models.Appeal) -> str:
        return one_line(row.words)

    @admin.display(description="decision")
    def decided(self, row: models.Appeal) -> str:
        if row.decided_at is None:
            return "waiting"
        return "reinstated" if row.reinstated else "stays revoked"

    @admin.action(description="Decide …", permissions=["act"])
    def decide(self, request: HttpRequest, rows: QuerySet[models.Appeal]) -> HttpResponse | None:
        return self.ask_and_do(
            request,
            rows.filter(decided_at=None),
            action="decide",
            form_class=AppealForm,
            title="Decide appeals",
            button="Decide",
            done="decided",
            do=lambda row, given: appeal_decide(
                appeal=row,
                reinstate=given["reinstate"],
                reply=given["reply"],
                by=request.user.get_username(),
            ),
            refusals=(AppealRefusedError,),
        )
