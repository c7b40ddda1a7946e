"""Gold questions: view them, and retire bad ones."""

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotation import models
from annotation.actions.gold.gold_questions import gold_retire
from annotation.admin.base import ReadOnlyAdmin, StageFilter, one_line, stage_words


class RetireForm(forms.Form):
    reason = forms.CharField(label="Why should it no longer be used?", max_length=200)


@admin.register(models.GoldQuestion)
class GoldQuestionAdmin(ReadOnlyAdmin):
    """Questions whose answer is known."""

    list_display = ("key", "stage_name", "image", "answer", "source", "uses", "in_use", "retired")
    list_filter = (
        "campaign",
        StageFilter,
        "source",
        ("retired_at", admin.EmptyFieldListFilter),
    )
    list_select_related = ("image", "campaign")
    search_fields = ("key__startswith", "image__name__startswith")
    search_help_text = "The beginning of a key or of an image’s name"
    ordering = ("-pk",)
    actions = ("retire",)

    @admin.display(description="stage")
    def stage_name(self, row: models.GoldQuestion) -> str:
        return stage_words(row.stage)

    @admin.display(description="in use", boolean=True)
    def in_use(self, row: models.GoldQuestion) -> bool:
        return row.retired_at is None

    @admin.display(description="why retired")
    def retired(self, row: models.GoldQuestion) -> str:
        return one_line(row.retired_reason)

    @admin.action(description="Retire …", permissions=["act"])
    def retire(
        self, request: HttpRequest, rows: QuerySet[models.GoldQuestion]
    ) -> HttpResponse | None:
        return self.ask_and_do(
            request,
            rows.filter(retired_at=None),
            action="retire",
            form_class=RetireForm,
            title="Retire gold questions",
            button="Retire",
            done="retired",
            do=lambda gold, given: gold_retire(gold=gold, reason=given["reason"]),
        )
