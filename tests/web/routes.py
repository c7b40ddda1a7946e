"""All registered routes, for tests that visit every one of them."""

import re
import uuid
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.urls.resolvers import RoutePattern

# Any value a converter accepts. That it names nothing is fine: 404 is an answer to the permitted.
SAMPLES: dict[str, Any] = {
    "IdConverter": 1,
    "StringConverter": "1",
    "SlugConverter": "a",
    "PathConverter": "a",
    "UUIDConverter": uuid.UUID(int=1),
}
PART = re.compile(r"<(?:(?P<converter>\w+):)?\w+>")


class Route(NamedTuple):
    """A registered route and a path that leads to it."""

    name: str
    path: str


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, namespace: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    """Yield every route with its full name; one without a name goes by its pattern."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from routes(pattern.url_patterns, inner)
        else:
            yield f"{namespace}{pattern.name or str(pattern.pattern)}", pattern


def requestable() -> list[Route]:
    """Every route that can be requested by name, with sample arguments filled in."""
    found = []
    for name, pattern in routes():
        converters = pattern.pattern.converters
        values = {key: SAMPLES[type(value).__name__] for key, value in converters.items()}
        try:
            found.append(Route(name, reverse(name, kwargs=values)))
        except NoReverseMatch:
            # The admin's routes by regular expression; its catch-all stands for them.
            assert name.startswith("admin:"), f"{name} cannot be requested by name"
    return found


def templates(
    patterns: list[URLPattern | URLResolver] | None = None, before: str = "/"
) -> Iterator[str]:
    """Yield the addresses of all routes as they are written: `/campaigns/<id:campaign_id>/`."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = pattern.pattern
        # Those by regular expression are the API's and externalSubmit, without anything to fill in.
        text = before + (str(route) if isinstance(route, RoutePattern) else "")
        if isinstance(pattern, URLResolver):
            yield from templates(pattern.url_patterns, text)
        elif isinstance(route, RoutePattern):
            yield text


def parts(template: str) -> list[str]:
    """Return the converters of an address, in their order."""
    return [part["converter"] or "str" for part in PART.finditer(template)]


def filled(template: str, values: Mapping[str, str], place: int = -1, text: str = "") -> str:
    """Fill an address in: a value for each kind of converter, but at one place this text."""
    numbers = count()
    return PART.sub(
        lambda part: text if next(numbers) == place else values[part["converter"] or "str"],
        template,
    )
