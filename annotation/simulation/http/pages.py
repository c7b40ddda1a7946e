"""What a worker sees on a page: its text, its forms, the groups of HITs, the frame."""

import re
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urljoin

import msgspec

_GROUP: Final = re.compile(r"/groups/([^/]+)/$")
_TOKEN: Final = "csrfmiddlewaretoken"


class Form(msgspec.Struct):
    """A form, with the values of its fields before anybody fills them in."""

    action: str
    method: str = "get"
    fields: dict[str, str] = {}


class Page(HTMLParser):
    """A parsed page of the marketplace or of our site."""

    def __init__(self, url: str, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.url = url
        self.forms: list[Form] = []
        # Groups of HITs, in the order of the page.
        self.groups: list[str] = []
        self.frame = ""
        # What is in `<script type="application/json">`, by its id.
        self.json: dict[str, str] = {}
        # The worker id that the page shows to its visitor.
        self.codes: list[str] = []
        self._heading = ""
        self._open: list[str] = []
        self._script = ""
        self.feed(html)
        self.close()

    @property
    def token(self) -> str:
        """The token that a form of this site must contain, so that no other site can send it."""
        return next((form.fields[_TOKEN] for form in self.forms if _TOKEN in form.fields), "")

    @property
    def heading(self) -> str:
        """The page's first heading."""
        return " ".join(self._heading.split())

    def form_to(self, ending: str) -> Form | None:
        """Return the form that goes to an address with this ending."""
        return next((form for form in self.forms if form.action.endswith(ending)), None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what matters about an element, and which element its words belong to."""
        given = {name: value or "" for name, value in attrs}
        match tag:
            case "form":
                action = urljoin(self.url, given.get("action", ""))
                self.forms.append(Form(action, given.get("method", "get").lower(), {}))
            case "input":
                self._input(given)
            case "a":
                self._link(given.get("href", ""))
            case "iframe":
                self.frame = urljoin(self.url, given.get("src", ""))
            case "script":
                is_data = given.get("type") == "application/json"
                self._script = given.get("id", "") if is_data else ""
            case "code":
                self.codes.append("")
        if tag in ("h1", "code", "script"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the open element."""
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Keep the words of the open element."""
        match self._open[-1] if self._open else "":
            case "h1":
                self._heading += data
            case "code":
                self.codes[-1] += data
            case "script" if self._script:
                self.json[self._script] = self.json.get(self._script, "") + data

    def _input(self, given: dict[str, str]) -> None:
        # A checkbox or radio button sends nothing until the user ticks it.
        is_choice = given.get("type") in ("checkbox", "radio") and "checked" not in given
        if self.forms and given.get("name") and not is_choice:
            self.forms[-1].fields[given["name"]] = given.get("value", "")

    def _link(self, href: str) -> None:
        found = _GROUP.search(href)
        if found and found[1] not in self.groups:
            self.groups.append(found[1])
