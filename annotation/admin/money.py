"""Payments, read-only: the database itself refuses to change one."""

from django.contrib import admin

from annotation import models
from annotation.admin.base import ReadOnlyAdmin, StageFilter, stage_words
from annotation.pipeline.crowd.money import dollars


@admin.register(models.Payment)
class PaymentAdmin(ReadOnlyAdmin):
    """What the marketplace has paid out for us."""

    list_display = ("key", "kind", "paid", "fee", "worker", "stage_name", "campaign", "created_at")
    list_filter = ("campaign", StageFilter, "kind")
    list_select_related = ("campaign", "assignment__worker")
    search_fields = ("assignment__worker__name__exact", "assignment__assignment_id__exact")
    search_help_text = "A worker’s full name or an assignment’s complete id"
    ordering = ("-pk",)

    @admin.display(description="paid")
    def paid(self, row: models.Payment) -> str:
        return dollars(row.cents)

    @admin.display(description="fee")
    def fee(self, row: models.Payment) -> str:
        return dollars(row.fee_cents)

    @admin.display(description="worker")
    def worker(self, row: models.Payment) -> str:
        return row.assignment.worker.name

    @admin.display(description="stage")
    def stage_name(self, row: models.Payment) -> str:
        return stage_words(row.stage)
