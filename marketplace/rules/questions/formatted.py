"""FormattedContent: the small part of XHTML that requesters may use inside a form.

The requester's markup is never shown as sent. It is read as XML, every element and attribute is
looked up in the lists here, and the HTML to show is written from the result.
"""

import re
from html import escape
from html.entities import name2codepoint

from marketplace.rules.errors import RequestError
from marketplace.rules.questions.tree import Element, parse_xml
from marketplace.rules.questions.xhtml import (
    ATTRIBUTES,
    CONTENT,
    EMPTY,
    NO_TEXT,
    NOT_SHOWN,
    REQUIRED,
    URLS,
    is_good_table,
)

XHTML = "http://www.w3.org/1999/xhtml"
_ROOT = "FormattedContent"
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,9});")
# XML's own entities, for characters that would be read as markup.
_KEPT = ("amp", "lt", "gt", "quot", "apos")
# MTurk documents the schemes with //; mailto is also accepted without it, as is usual.
_URL = re.compile(
    r"(?:(?:https?|ftp|news|nntp|gopher|telnet)://|mailto:)[^\x00-\x20\x7f\\]*", re.IGNORECASE
)
_LOCAL = re.compile(r"#[^\s]+")


def safe_html(formatted: str) -> str:
    """Return formatted content as HTML that is safe to show; refuse anything not allowed.

    >>> safe_html("<p>Fish&nbsp;&amp; <b>chips</b><br/></p>")
    '<p>Fish\\xa0&amp; <b>chips</b><br></p>'
    """
    text = _ENTITY.sub(_character, formatted)
    try:
        root = parse_xml(f'<{_ROOT} xmlns="{XHTML}">{text}</{_ROOT}>', plain=True)
    except RequestError as error:
        raise xhtml_error(str(error).partition("Details: ")[2]) from error
    return "".join(_children(root))


def xhtml_error(details: str) -> RequestError:
    return RequestError(
        "XHTMLParseError",
        "There was an error parsing the XHTML data in your request.  Please make sure the data is "
        f"well-formed and validates against the appropriate schema. Details: {details}",
    )


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if name in _KEPT or name not in name2codepoint:
        return match[0]
    return chr(name2codepoint[name])


def _children(element: Element) -> list[str]:
    allowed = CONTENT[element.name]
    written: list[str] = []
    for part in element.content:
        if isinstance(part, str):
            if part.strip() and element.name in NO_TEXT:
                raise xhtml_error(f"Element '{element.name}' cannot have text in it.")
            written.append(escape(part, quote=False))
            continue
        if part.namespace != XHTML or part.name not in ATTRIBUTES:
            raise xhtml_error(f"Element '{part.name}' is not allowed in formatted content.")
        if part.name not in allowed:
            raise xhtml_error(
                f"Invalid content was found starting with element '{part.name}' in element "
                f"'{element.name}'. One of '{{{', '.join(sorted(allowed))}}}' is expected."
            )
        written.append(_write(part))
    return written


def _write(element: Element) -> str:
    name = element.name
    attributes = {key: _value(element, key, value) for key, value in element.attributes.items()}
    for required in REQUIRED.get(name, ()):
        if required not in attributes:
            raise xhtml_error(f"Attribute '{required}' must appear on element '{name}'.")
    inside = "".join(_children(element))
    if name == "table" and not is_good_table([child.name for child in element.children]):
        raise xhtml_error(
            "The content of element 'table' must be col or colgroup, then thead, then tfoot, then "
            "tbody or tr, of which at least one."
        )
    if not element.children and name in NO_TEXT and name not in EMPTY and name != "colgroup":
        raise xhtml_error(f"The content of element '{name}' is not complete.")
    if "href" in attributes:
        # The link must not replace the worker's form, and its page must not reach the form.
        attributes |= {"target": "_blank", "rel": "noopener noreferrer nofollow"}
    marks = "".join(
        f' {key}="{escape(value)}"'
        for key, value in attributes.items()
        if (name, key) not in NOT_SHOWN
    )
    if name in EMPTY:
        return f"<{name}{marks}>"
    return f"<{name}{marks}>{inside}</{name}>"


def _value(element: Element, name: str, value: str) -> str:
    if name not in ATTRIBUTES[element.name]:
        raise xhtml_error(
            f"Attribute '{name}' is not allowed to appear in element '{element.name}'."
        )
    if name in URLS:
        value = value.strip()
        if not (_LOCAL if name == "usemap" else _URL).fullmatch(value):
            raise xhtml_error(
                f"The value '{value[:100]}' of attribute '{name}' on element '{element.name}' is "
                "not an address of an allowed kind."
            )
    return value
