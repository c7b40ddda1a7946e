"""What all pages of the administration share: nothing is edited, rows are few, actions ask."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from django.utils.text import capfirst

from annotation.dashboard.words import STAGES
from annotation.pipeline.protocol.questions import Stage

if TYPE_CHECKING:
    Admin = admin.ModelAdmin[Any]
    BasePaginator = Paginator[Any]
else:
    Admin = admin.ModelAdmin
    BasePaginator = Paginator

# A list ends here: to count and leaf through millions of rows takes seconds, and nobody does.
MOST_LISTED = 10_000
# What one action is carried out on.
MOST_AT_ONCE = 100


class ShortPaginator(BasePaginator):
    """Counts no further than the list goes."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        assert isinstance(rows, QuerySet)
        return rows.order_by()[:MOST_LISTED].count()


class ShortList(ChangeList):
    """Says so where the list ends early."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.result_count >= MOST_LISTED:
            self.title = f"{self.title} (the first {MOST_LISTED:,}; search or filter for others)"


class ReadOnlyAdmin(Admin):
    """A table to look at. What may be done with its rows are actions that call `actions/`."""

    list_per_page = 50
    show_full_result_count = False
    # To count what each filter leaves is a statement each.
    show_facets = admin.ShowFacets.NEVER
    paginator = ShortPaginator

    class Media:
        css = {"all": ["dashboard/picture.css", "dashboard/administration.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ShortList

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Tell whether the account may carry out actions on these rows."""
        return request.user.has_perm(f"annotation.change_{self.opts.model_name}")

    def row_words(self, row: Any) -> str:
        """Name a row in what is asked and answered."""
        return str(row)

    def ask_and_do(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        *,
        action: str,
        form_class: type[forms.Form],
        title: str,
        button: str,
        done: str,
        do: Callable[[Any, dict[str, Any]], object],
        refusals: tuple[type[Exception], ...] = (),
    ) -> HttpResponse | None:
        """Ask for what the action needs, then carry it out on each row.

        `done` names what happened, as in "2 standings revoked". A row that refuses stops no other.
        """
        chosen = list(rows[: MOST_AT_ONCE + 1])
        if len(chosen) > MOST_AT_ONCE:
            messages.error(request, f"Choose at most {MOST_AT_ONCE} at once.")
            return None
        if not chosen:
            messages.error(request, f"None of what you chose can be {done}: they are already.")
            return None
        confirmed = "confirmed" in request.POST
        form = form_class(request.POST) if confirmed else form_class()
        if not confirmed or not form.is_valid():
            context = {
                **self.admin_site.each_context(request),
                "title": title,
                "opts": self.opts,
                "media": self.media,
                "rows": [(row, self.row_words(row)) for row in chosen],
                "form": form,
                "action": action,
                "button": button,
                "checkbox": ACTION_CHECKBOX_NAME,
            }
            status = 422 if confirmed else 200
            return TemplateResponse(request, "admin/annotation/ask.html", context, status=status)
        self.do_each(
            request, chosen, done=done, do=lambda row: do(row, form.cleaned_data), refusals=refusals
        )
        return None

    def do_each(
        self,
        request: HttpRequest,
        rows: list[Any],
        *,
        done: str,
        do: Callable[[Any], object],
        refusals: tuple[type[Exception], ...] = (),
    ) -> None:
        """Carry something out on each row and say what became of it."""
        count = 0
        for row in rows:
            try:
                do(row)
            except refusals as error:
                messages.error(request, f"{self.row_words(row)}: {error}")
            else:
                self.log_change(request, row, done)
                count += 1
        if count:
            messages.success(request, f"{count} {_named(self.opts, count)} {done}.")


def _named(options: Any, count: int) -> str:
    return str(options.verbose_name if count == 1 else options.verbose_name_plural)


class StageFilter(admin.SimpleListFilter):
    """By stage, in its own words."""

    title = "stage"
    parameter_name = "stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(stage.value, words) for stage, words in STAGES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(stage=self.value()) if self.value() else queryset


def stage_words(stage: str) -> str:
    """Return a stage's name for people; what is none stays as it is."""
    return STAGES[Stage(stage)] if stage in STAGES else capfirst(stage)


def one_line(text: str, most: int = 90) -> str:
    """Return the beginning of a text that may be long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def detail_context(model_admin: Admin, request: HttpRequest, row: Model) -> dict[str, Any]:
    """Return what a page about one row shows round its content."""
    return {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "original": row,
        "has_view_permission": True,
    }
