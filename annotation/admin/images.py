"""Images, and decisions that do not concern a single chain, such as an unrelated caption."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path

import common.web.converters  # noqa: F401  # makes <id:…> known
from annotation import models
from annotation.admin.base import ReadOnlyAdmin
from annotation.admin.pictures import image_state, picture_context
from annotation.admin.review import DECIDE, decide
from annotation.dashboard.words import STATUSES
from annotation.selectors.campaign.overview import image_facts


class StatusFilter(admin.SimpleListFilter):
    """By status."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(STATUSES.items())

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Image]
    ) -> QuerySet[models.Image]:
        return queryset.filter(stored_state__status=self.value()) if self.value() else queryset


@admin.register(models.Image)
class ImageAdmin(ReadOnlyAdmin):
    """Images with their status."""

    list_display = ("name", "campaign", "status", "fact_count", "changed_at")
    list_filter = ("campaign", StatusFilter)
    list_select_related = ("campaign", "stored_state")
    search_fields = ("name__startswith",)
    search_help_text = "The beginning of an image’s name"
    ordering = ("campaign_id", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Image]:
        return super().get_queryset(request).defer("stored_state__body")

    @admin.display(description="status")
    def status(self, row: models.Image) -> str:
        return STATUSES[row.stored_state.status]

    @admin.display(description="facts")
    def fact_count(self, row: models.Image) -> int:
        return row.stored_state.facts

    @admin.display(description="last changed")
    def changed_at(self, row: models.Image) -> Any:
        return row.stored_state.updated_at

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide_view)
        return [
            path("<id:pk>/decide/", view, name="annotation_image_decide"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = _image(object_id)
        if row is not None and self.has_view_permission(request, row):
            rows = dict(models.Chain.objects.filter(image=row).values_list("number", "pk"))
            picture = picture_context(row, image_state(row), None, image_facts(row))
            extra_context = {
                **(extra_context or {}),
                **picture,
                "chains": [(line, rows.get(line.number)) for line in picture.get("chains", ())],
                "title": row.name,
                "subtitle": None,
                "may_decide": request.user.has_perm(DECIDE),
            }
        return super().change_view(request, object_id, form_url, extra_context)

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Decide about an image."""
        row = _image(str(pk))
        if row is None:
            raise Http404
        return decide(self, request, row, None, row)


def _image(pk: str) -> models.Image | None:
    if not pk.isdecimal() or len(pk) > 18:
        return None
    return (
        models.Image.objects.select_related("campaign", "stored_state").filter(pk=int(pk)).first()
    )
