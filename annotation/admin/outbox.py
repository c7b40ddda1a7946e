"""The outbox: our calls to the marketplace, done, waiting or refused."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation import models
from annotation.actions.crowd.outbox import call_retry
from annotation.admin.base import MOST_AT_ONCE, ReadOnlyAdmin, one_line
from annotation.models import CallStatus


@admin.register(models.OutboxCall)
class OutboxCallAdmin(ReadOnlyAdmin):
    """Calls to the marketplace."""

    list_display = (
        "key",
        "operation",
        "status",
        "attempts",
        "next_try_at",
        "error",
        "campaign",
        "created_at",
    )
    list_filter = ("campaign", "status", "operation")
    list_select_related = ("campaign",)
    search_fields = ("key__startswith", "worker__name__exact")
    search_help_text = "The beginning of a key, such as approve/12, or a worker’s full name"
    ordering = ("-pk",)
    actions = ("retry",)

    @admin.display(description="last error")
    def error(self, row: models.OutboxCall) -> str:
        return one_line(row.last_error)

    @admin.action(description="Retry failed calls", permissions=["act"])
    def retry(self, request: HttpRequest, rows: QuerySet[models.OutboxCall]) -> None:
        failed = rows.filter(status=CallStatus.FAILED)[:MOST_AT_ONCE]
        calls = list(failed)
        self.do_each(request, calls, done="will be sent again", do=lambda c: call_retry(call=c))
        if not calls:
            self.message_user(
                request, "None of the selected calls has failed, so there is nothing to retry."
            )
