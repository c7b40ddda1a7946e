"""Looking over the HTML of an HTMLQuestion: leniently, as browsers do, but not at just any text."""

import re
from html.parser import HTMLParser

from marketplace.rules.errors import RequestError

# A form of either kind: plain, or the custom element whose script makes one.
FORMS = ("form", "crowd-form")
_ONCE = ("html", "head", "body")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


def check_html(html: str) -> bool:
    """Refuse a page that is none; tell whether it has a form.

    A page without a form is let pass: it can be looked at, though not submitted. Left-over or
    missing end tags are let pass too, as browsers know what to do about them.
    """
    page = _Page()
    try:
        page.feed(html)
        page.close()
    except AssertionError as error:
        # How the parser says that it does not know what a declaration is.
        raise _html_error(f"<! [1,1] {error} !>") from error
    if page.faults:
        raise _html_error(" ".join(page.faults[:5]))
    if not page.seen:
        raise _html_error("<! [1,1] HTMLContent has no HTML element !>")
    return bool(page.seen.intersection(FORMS))


def _html_error(details: str) -> RequestError:
    return RequestError(
        "InvalidParameterValue",
        "There was an error parsing the HTML5 data in your request.  Please make sure the data is "
        f"well-formed and validates as HTML5. Details: Errors: {details}",
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ONCE and tag in self.seen:
            self.fault(f"Start tag '{tag}' seen a second time")
        self.seen.add(tag)
        text = self.get_starttag_text() or ""
        for value in _QUOTED.finditer(text):
            if text[value.end() : value.end() + 1] not in ("", "/", ">", " ", "\t", "\n", "\r"):
                self.fault(f"No space between attributes of '{tag}'")

    def fault(self, words: str) -> None:
        line, column = self.getpos()
        self.faults.append(f"<! [{line},{column + 1}] {words} !>")
