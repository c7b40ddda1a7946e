"""Shared parts of the administration's pages: read-only, short lists, actions that confirm."""

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

# Lists end here: counting and paging through millions of rows takes seconds, and nobody needs it.
MOST_LISTED = 10_000
# The most rows for one action.
MOST_AT_ONCE = 100


class ShortPaginator(BasePaginator):
    """Counts no further than the end of the list."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        assert isinstance(rows, QuerySet)
        return rows.order_by()[:MOST_LISTED].count()


class ShortList(ChangeList):
    """Notes in the title that the list ends early."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.result_count >= MOST_LISTED:
            self.title = f"{self.title} (the first {MOST_LISTED:,}; search or filter for others)"


class ReadOnlyAdmin(Admin):
    """A read-only table. Rows change only through admin actions, which call `actions/`."""

    list_per_page = 50
    show_full_result_count = False
    # Each count would be a query of its own.
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
        """Return whether the account may carry out actions on these rows."""
        return request.user.has_perm(f"annotation.change_{self.opts.model_name}")

    def row_words(self, row: Any) -> str:
        """Name a row in confirmations and messages."""
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

        `done` completes the message, as in "2 standings revoked". A refusal for one row does not
        stop the others.
        """
        chosen = list(rows[: MOST_AT_ONCE + 1])
        if len(chosen) > MOST_AT_ONCE:
            messages.error(request, f"Select at most {MOST_AT_ONCE} rows at once.")
            return None
        if not chosen:
            messages.error(request, f"The selected rows are already {done}.")
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
        """Carry something out on each row and report the result."""
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
    """By stage."""

    title = "stage"
    parameter_name = "stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(stage.value, words) for stage, words in STAGES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(stage=self.value()) if self.value() else queryset


def stage_words(stage: str) -> str:
    """Return a stage's title; any other text only gets a capital."""
    return STAGES[Stage(stage)] if stage in STAGES else capfirst(stage)


def one_line(text: str, most: int = 90) -> str:
    """Return the beginning of a text that may be long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def detail_context(model_admin: Admin, request: HttpRequest, row: Model) -> dict[str, Any]:
    """Return the context that every page about one row needs."""
    return {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "original": row,
        "has_view_permission": True,
    }
