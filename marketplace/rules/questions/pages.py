"""Checking the HTML of an HTMLQuestion: leniently, as browsers do, but not any text passes.

The standard library's parser takes quadratic time on some texts, so this module finds the tags
itself, in one pass over the text.
"""

import re

from marketplace.rules.errors import RequestError

# Either kind of form: plain, or the custom element whose script makes one.
FORMS = ("form", "crowd-form")
_ONCE = ("html", "head", "body")
# Inside these elements, only their own end tag is a tag.
_RAW = ("script", "style", "textarea", "title")
_NAME = re.compile(r"[a-z][^\s/>]*")
_BETWEEN = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"[^\s/>][^\s/>=]*")
_EQUALS = re.compile(r"\s*=\s*")
_UNQUOTED = re.compile(r"[^\s>]*")
_MAX_FAULTS = 5


def check_html(html: str) -> bool:
    """Refuse a text that is not a page; tell whether it has a form.

    A page without a form passes: workers can look at it, but not submit it. Surplus or missing end
    tags pass too, as browsers can handle them.
    """
    page = _Page(html)
    page.read()
    if page.faults:
        raise _html_error(" ".join(page.faults))
    if not page.seen:
        raise _html_error("<! [1,1] HTMLContent has no HTML element !>")
    return bool(page.seen.intersection(FORMS))


def _html_error(details: str) -> RequestError:
    return RequestError(
        "InvalidParameterValue",
        "There was an error parsing the HTML5 data in your request.  Please make sure the data is "
        f"well-formed and validates as HTML5. Details: Errors: {details}",
    )


class _Page:
    def __init__(self, html: str) -> None:
        # Not `lower`, which changes the length of some texts.
        self.text = re.sub("[A-Z]+", lambda match: match[0].lower(), html)
        self.seen: set[str] = set()
        self.faults: list[str] = []

    def read(self) -> None:
        place = self.text.find("<")
        while place >= 0:
            place = self.text.find("<", self.mark(place))

    def mark(self, start: int) -> int:
        """Read the markup that begins with the `<` at `start`; return where it ends."""
        if self.text.startswith("<!--", start):
            return self.after("-->", start + 4)
        if self.text.startswith(("<!", "<?", "</"), start):
            return self.after(">", start + 2)
        name = _NAME.match(self.text, start + 1)
        if name is None:
            return start + 1
        end = self.attributes(start, name.end(), name[0])
        if end is None:
            return len(self.text)
        if name[0] in _ONCE and name[0] in self.seen:
            self.fault(start, f"Start tag '{name[0][:50]}' seen a second time")
        self.seen.add(name[0])
        return self.after(f"</{name[0]}", end) if name[0] in _RAW else end

    def attributes(self, start: int, place: int, tag: str) -> int | None:
        """Return the end of the tag whose name ends at `place`; None if the tag never ends."""
        while True:
            place = _end(_BETWEEN, self.text, place)
            if self.text.startswith(">", place):
                return place + 1
            attribute = _ATTRIBUTE.match(self.text, place)
            if attribute is None:
                return None
            place = attribute.end()
            equals = _EQUALS.match(self.text, place)
            if equals is None:
                continue
            place = equals.end()
            if not self.text.startswith(('"', "'"), place):
                place = _end(_UNQUOTED, self.text, place)
                continue
            quote = self.text.find(self.text[place], place + 1)
            if quote < 0:
                return None
            place = quote + 1
            following = self.text[place : place + 1]
            if following and following not in "/>" and not following.isspace():
                self.fault(start, f"No space between attributes of '{tag[:50]}'")

    def after(self, text: str, place: int) -> int:
        found = self.text.find(text, place)
        return found + len(text) if found >= 0 else len(self.text)

    def fault(self, place: int, words: str) -> None:
        if len(self.faults) < _MAX_FAULTS:
            line = self.text.count("\n", 0, place) + 1
            column = place - self.text.rfind("\n", 0, place)
            self.faults.append(f"<! [{line},{column}] {words} !>")


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place
