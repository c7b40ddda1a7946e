"""Facts, mostly judgments, read-only: the database itself refuses to change one."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation import models
from annotation.admin.base import ReadOnlyAdmin, StageFilter
from annotation.admin.pictures import image_state
from annotation.dashboard.words import fact_words
from annotation.pipeline.protocol.facts import decode_body

KINDS = {
    "judgment": "judgment",
    "accepted_import": "accepted import",
    "doubt": "doubt",
    "fix_span": "phrase changed",
    "retype": "types changed",
    "split": "split",
    "join": "join",
    "box_add": "box added",
    "box_adjust": "box adjusted",
    "box_delete": "box deleted",
    "no_box": "settled without a box",
    "caption_unrelated": "caption checked",
    "send_to": "sent to a stage",
    "undo": "decision undone",
}


class KindFilter(admin.SimpleListFilter):
    """By kind."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(KINDS.items())

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Fact]
    ) -> QuerySet[models.Fact]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class JudgmentStageFilter(StageFilter):
    """Judgments of a stage: their question's key begins with its name."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return (
            queryset.filter(question__startswith=f"{self.value()}/") if self.value() else queryset
        )


@admin.register(models.Fact)
class FactAdmin(ReadOnlyAdmin):
    """The facts of all images, newest first."""

    list_display = ("fact", "kind_words", "words", "worker", "counted", "campaign", "created_at")
    list_filter = ("image__campaign", KindFilter, JudgmentStageFilter, "counted")
    list_select_related = ("image__campaign", "image__stored_state", "worker")
    search_fields = ("image__name__exact", "worker__name__exact")
    search_help_text = "An image’s or a worker’s full name"
    ordering = ("-pk",)
    readonly_fields = ("words",)
    fields = (
        "image",
        "number",
        "words",
        "kind",
        "worker",
        "question",
        "counted",
        "settings",
        "body",
        "created_at",
    )

    @admin.display(description="fact")
    def fact(self, row: models.Fact) -> str:
        return f"{row.number} of {row.image.name}"

    @admin.display(description="kind")
    def kind_words(self, row: models.Fact) -> str:
        return KINDS.get(row.kind, row.kind)

    @admin.display(description="campaign")
    def campaign(self, row: models.Fact) -> str:
        return row.image.campaign.name

    @admin.display(description="what happened")
    def words(self, row: models.Fact) -> str:
        return fact_words(decode_body(row.body), image_state(row.image))
