"""The elements of formatted content: the attributes and contents that each may have."""

import re


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CELL = "align char charoff valign"
_TABLE_CELL = (
    "abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width"
)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

ATTRIBUTES: dict[str, frozenset[str]] = {
    "a": _names("accesskey charset coords href hreflang name rel rev shape tabindex target type"),
    "area": _names("alt coords href nohref shape target"),
    "blockquote": _names("cite"),
    "br": _names("clear"),
    "col": _names(f"{_CELL} span width"),
    "colgroup": _names(f"{_CELL} span width"),
    "del": _names("cite datetime"),
    "ins": _names("cite datetime"),
    "font": _names("color face size"),
    "hr": _names("align noshade size width"),
    "img": _names(
        "align alt border height hspace ismap longdesc name src usemap vspace width",
    ),
    "li": _names("type value"),
    "map": _names("name id"),
    "ol": _names("compact start type"),
    "ul": _names("compact type"),
    "p": _names("align"),
    "pre": _names("width"),
    "q": _names("cite"),
    "table": _names("align bgcolor border cellpadding cellspacing frame rules summary width"),
    "tbody": _names(_CELL),
    "thead": _names(_CELL),
    "tfoot": _names(_CELL),
    "td": _names(_TABLE_CELL),
    "th": _names(_TABLE_CELL),
    "tr": _names(f"{_CELL} bgcolor"),
}
ATTRIBUTES |= {name: _names("align") for name in HEADINGS}
ATTRIBUTES |= {
    name: frozenset()
    for name in _names("b big center cite code dd dl dt em i s small strike strong sub sup u")
}
ATTRIBUTES = {
    name: own | _names("title" if name == "br" else "title lang dir")
    for name, own in ATTRIBUTES.items()
}
REQUIRED = {"area": ("alt",), "img": ("src", "alt"), "map": ("name",)}
# Allowed, but left out: the site's scripts would find these elements instead of their own.
NOT_SHOWN = frozenset({("img", "name"), ("map", "id")})
URLS = _names("href src cite longdesc usemap")

INLINE = _names(
    "a b big br cite code del em font i img ins map q s small strike strong sub sup u",
)
FLOW = INLINE | _names("blockquote center dl hr ol p pre table ul") | frozenset(HEADINGS)
EMPTY = _names("area br col hr img")

_ROWS = _names("tr")
CONTENT: dict[str, frozenset[str]] = {
    "FormattedContent": FLOW,
    "a": INLINE - {"a"},
    "map": _names("area"),
    "ol": _names("li"),
    "ul": _names("li"),
    "dl": _names("dt dd"),
    "table": _names("col colgroup thead tfoot tbody tr"),
    "colgroup": _names("col"),
    "thead": _ROWS,
    "tfoot": _ROWS,
    "tbody": _ROWS,
    "tr": _names("th td"),
}
CONTENT |= dict.fromkeys(_names("li dd td th blockquote center ins del"), FLOW)
CONTENT |= {name: frozenset() for name in EMPTY}
CONTENT |= {name: INLINE for name in ATTRIBUTES if name not in CONTENT}
NO_TEXT = EMPTY | _names("map ol ul dl table colgroup thead tfoot tbody tr")

_TABLE = re.compile(r"(?:(?:col )*|(?:colgroup )*)(?:thead )?(?:tfoot )?(?:(?:tbody )+|(?:tr )+)")


def is_good_table(children: list[str]) -> bool:
    """Tell whether a table's parts are in the right order.

    >>> is_good_table(["thead", "tbody"]), is_good_table(["tr", "thead"])
    (True, False)
    """
    return _TABLE.fullmatch("".join(f"{name} " for name in children)) is not None
