"""Formatted content: what is allowed, how it is shown, and what is refused."""

from contextlib import suppress
from html.parser import HTMLParser
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.errors import RequestError
from marketplace.rules.questions import safe_html
from marketplace.rules.questions.xhtml import ATTRIBUTES
from tests.marketplace.questions.question_documents import refused


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ("Just <i>words</i> &amp; more", "Just <i>words</i> &amp; more"),
        ("a&nbsp;b &copy; &lt;script&gt;", "a\xa0b © &lt;script&gt;"),
        ("<br/><hr />", "<br><hr>"),
        ("<p></p>", "<p></p>"),
        ('<font color="a&quot;b">x</font>', '<font color="a&quot;b">x</font>'),
        (
            "<a href='https://a.org/?b=1&amp;c=2' target='_top'>x</a>",
            '<a href="https://a.org/?b=1&amp;c=2" target="_blank"'
            ' rel="noopener noreferrer nofollow">x</a>',
        ),
        ("<a name='top'>x</a>", '<a name="top">x</a>'),
        (
            "<img src='http://a.org/b.png' alt='' name='document' usemap='#m'/>",
            '<img src="http://a.org/b.png" alt="" usemap="#m">',
        ),
        (
            "<map name='m' id='m'><area alt='x' shape='rect' coords='0,0,1,1'/></map>",
            '<map name="m"><area alt="x" shape="rect" coords="0,0,1,1"></map>',
        ),
        (
            "<table border='1'><thead><tr><th>h</th></tr></thead>\n<tbody><tr><td><p>c</p></td>"
            "</tr></tbody></table>",
            '<table border="1"><thead><tr><th>h</th></tr></thead>\n<tbody><tr><td><p>c</p></td>'
            "</tr></tbody></table>",
        ),
        ("<dl><dt>a</dt><dd><ul><li>b</li></ul></dd></dl>",) * 2,
        ("<h2 align='center' title='t' lang='en' dir='ltr'>x</h2>".replace("'", '"'),) * 2,
    ],
)
def test_what_is_allowed_is_shown(given_: str, shown: str) -> None:
    assert safe_html(given_) == shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<script>alert(1)</script>", "Element 'script' is not allowed"),
        ("<style>p {}</style>", "Element 'style'"),
        ("<div>x</div>", "Element 'div'"),
        ("<P>x</P>", "Element 'P'"),
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "Element 'svg'"),
        ("<b xmlns='http://www.w3.org/2000/svg'>x</b>", "Element 'b'"),
        ("<FormattedContent>x</FormattedContent>", "Element 'FormattedContent'"),
        ("<table><caption>c</caption><tr><td/></tr></table>", "Element 'caption'"),
        ("<p onclick='x()'>x</p>", "Attribute 'onclick'"),
        ("<p style='x'>x</p>", "Attribute 'style'"),
        ("<p id='x'>x</p>", "Attribute 'id'"),
        ("<p class='x'>x</p>", "Attribute 'class'"),
        ("<br lang='en'/>", "Attribute 'lang'"),
        ("<a href='javascript:alert(1)'>x</a>", "of an allowed kind"),
        ("<a href=' java&#10;script:alert(1)'>x</a>", "of an allowed kind"),
        ("<a href='data:text/html,x'>x</a>", "of an allowed kind"),
        ("<a href='/marketplace/'>x</a>", "of an allowed kind"),
        ("<img src='javascript:x' alt=''/>", "of an allowed kind"),
        ("<q cite='javascript:x'>x</q>", "attribute 'cite'"),
        ("<img alt=''/>", "Attribute 'src' must appear"),
        ("<img src='https://a.org/'/>", "Attribute 'alt' must appear"),
        ("<map><area alt=''/></map>", "Attribute 'name' must appear"),
        ("<p><p>x</p></p>", "element 'p' in element 'p'"),
        ("<b><p>x</p></b>", "element 'p' in element 'b'"),
        ("<a name='x'><a name='y'/></a>", "element 'a' in element 'a'"),
        ("<ul>x</ul>", "'ul' cannot have text"),
        ("<ul/>", "'ul' is not complete"),
        ("<br>x</br>", "'br' cannot have text"),
        ("<li>x</li>", "element 'li' in element 'FormattedContent'"),
        ("<table/>", "content of element 'table'"),
        ("<table><tbody><tr><td/></tr></tbody><thead><tr><td/></tr></thead></table>", "'table'"),
        ("<!-- hello -->", "Comments"),
        ("<?php x ?>", "Processing instructions"),
        ("<p>x", "mismatched tag"),
        ("<b><i>x</b></i>", "mismatched tag"),
        ("<p align=left>x</p>", "not well-formed"),
        ("a & b", "not well-formed"),
        ("&unheardof;", "undefined entity"),
        ("</FormattedContent><FormattedContent>", "junk after document element"),
        ("<b>" * 200 + "</b>" * 200, "100 deep"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with refused("XHTMLParseError", words):
        safe_html(text)


class Seen(HTMLParser):
    """What a browser would find in the HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ATTRIBUTES
        self.marks.append(tag)
        for name, value in attrs:
            assert name in ATTRIBUTES[tag] | {"target", "rel"}
            assert not (value or "").strip().lower().startswith("javascript:")

    def handle_data(self, data: str) -> None:
        self.text += data


TEXTS = st.text(alphabet="ab<>&\"' ;#x\xa0é😀/=!-")


@given(TEXTS, TEXTS)
def test_text_and_attributes_are_shown_and_never_become_marks(text: str, title: str) -> None:
    seen = Seen()
    seen.feed(safe_html(f"<b title={quoteattr(title)}>{escape(text)}</b>"))
    seen.close()
    assert (seen.marks, seen.text) == (["b"], text)


PIECES = ["<p>", "</p>", "<a href='http://x'>", "</a>", "<b>", "</b>", "<br/>", "x", "&lt;", "]]>"]


@given(st.lists(st.sampled_from([*PIECES, "<script>", "<![CDATA[", "<b title='"])).map("".join))
def test_what_is_let_through_is_only_what_is_listed(text: str) -> None:
    with suppress(RequestError):
        Seen().feed(safe_html(text))
