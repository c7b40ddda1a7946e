"""HITs, assignments and the supply of stages, as stored here."""

import uuid
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotation import models
from annotation.actions.crowd.payments import BonusError, bonus_queue
from annotation.actions.crowd.rejections import RejectionRefusedError, assignment_reject
from annotation.admin.base import ReadOnlyAdmin, StageFilter, one_line, stage_words
from annotation.pipeline.crowd.money import dollars

# A typing error should not pay a month's wage.
MOST_BONUS_CENTS = 10_000


class RejectForm(forms.Form):
    reason = forms.CharField(
        label="What was wrong? The worker will see this.",
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class BonusForm(forms.Form):
    cents = forms.IntegerField(
        label="Cents for each worker",
        min_value=1,
        max_value=MOST_BONUS_CENTS,
        help_text="100 cents are one dollar",
    )
    reason = forms.CharField(
        label="What is the bonus for? The worker will see this.",
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    # New for each page: a form that is sent twice pays once.
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)


@admin.register(models.StageSupply)
class StageSupplyAdmin(ReadOnlyAdmin):
    """The supply of launched campaigns' stages; it is changed on the campaign's crowd page."""

    list_display = ("campaign", "stage_name", "status", "qualification_type_id", "changed_at")
    list_display_links = ("stage_name",)
    list_filter = ("campaign", StageFilter, "status")
    list_select_related = ("campaign",)
    ordering = ("-campaign_id", "pk")

    @admin.display(description="stage")
    def stage_name(self, row: models.StageSupply) -> str:
        return stage_words(row.stage)


@admin.register(models.Hit)
class HitAdmin(ReadOnlyAdmin):
    """HITs."""

    list_display = (
        "number",
        "stage_name",
        "kind",
        "status",
        "places",
        "is_free",
        "held",
        "hit_id",
        "campaign",
        "created_at",
    )
    list_filter = ("campaign", StageFilter, "kind", "status")
    list_select_related = ("campaign",)
    search_fields = ("hit_id__exact",)
    search_help_text = "A HIT’s complete id on the marketplace"
    ordering = ("-pk",)

    @admin.display(description="HIT")
    def number(self, row: models.Hit) -> str:
        return str(row.pk)

    @admin.display(description="stage")
    def stage_name(self, row: models.Hit) -> str:
        return stage_words(row.stage)

    @admin.display(description="may still cost")
    def held(self, row: models.Hit) -> str:
        return dollars(row.held_cents)


class AssignmentStageFilter(StageFilter):
    """By the stage of its HIT."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(hit__stage=self.value()) if self.value() else queryset


@admin.register(models.Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    """Assignments that workers have submitted."""

    list_display = (
        "assignment_id",
        "worker",
        "stage_name",
        "campaign",
        "status",
        "why",
        "submitted_at",
    )
    list_filter = ("hit__campaign", AssignmentStageFilter, "status")
    list_select_related = ("worker", "hit__campaign")
    search_fields = ("assignment_id__exact", "worker__name__exact")
    search_help_text = "An assignment’s complete id or a worker’s full name"
    ordering = ("-pk",)
    actions = ("reject", "bonus")

    def row_words(self, row: models.Assignment) -> str:
        return f"{row.assignment_id} of {row.worker.name}, {self.stage_name(row)}, {row.status}"

    @admin.display(description="stage")
    def stage_name(self, row: models.Assignment) -> str:
        return stage_words(row.hit.stage)

    @admin.display(description="campaign")
    def campaign(self, row: models.Assignment) -> str:
        return row.hit.campaign.name

    @admin.display(description="reason")
    def why(self, row: models.Assignment) -> str:
        return one_line(row.reason)

    @admin.action(description="Reject if not paid yet …", permissions=["act"])
    def reject(
        self, request: HttpRequest, rows: QuerySet[models.Assignment]
    ) -> HttpResponse | None:
        return self.ask_and_do(
            request,
            rows,
            action="reject",
            form_class=RejectForm,
            title="Reject assignments",
            button="Reject",
            done="will be rejected",
            do=lambda row, given: assignment_reject(assignment=row, reason=given["reason"]),
            refusals=(RejectionRefusedError,),
        )

    @admin.action(description="Pay a bonus …", permissions=["act"])
    def bonus(self, request: HttpRequest, rows: QuerySet[models.Assignment]) -> HttpResponse | None:
        return self.ask_and_do(
            request,
            rows,
            action="bonus",
            form_class=BonusForm,
            title="Pay a bonus",
            button="Pay",
            done="will get a bonus",
            do=lambda row, given: bonus_queue(
                assignment=row,
                cents=given["cents"],
                reason=given["reason"],
                key=f"{row.pk}/{given['once'].hex}",
            ),
            refusals=(BonusError,),
        )
