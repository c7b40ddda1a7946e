"""A HIT's Question and a qualification's Test: their kind and their contents."""

from collections.abc import Collection

from marketplace.rules.questions.forms import read_form
from marketplace.rules.questions.frames import LOCAL_HOSTS, check_external_url
from marketplace.rules.questions.pages import check_html
from marketplace.rules.questions.schema import (
    EXTERNAL_QUESTION,
    HTML_QUESTION,
    QUESTION_FORMS,
    Sequence,
    check_root,
    check_size,
    integer,
    string,
)
from marketplace.rules.questions.shapes import ExternalQuestion, HTMLQuestion, QuestionForm
from marketplace.rules.questions.tree import Element, parse_xml, xml_error

# Higher than any page; a larger number would only cause trouble for the layout.
MAX_FRAME_HEIGHT = 100_000


def parse_question(
    xml: str, *, allow_http_hosts: Collection[str] = LOCAL_HOSTS
) -> ExternalQuestion | HTMLQuestion | QuestionForm:
    """Read the question of a HIT; refuse an invalid one with the reason.

    An ExternalURL may use http on `allow_http_hosts`; on all other hosts it must use https.
    """
    check_size("Question", xml)
    root = parse_xml(xml)
    if root.name == "ExternalQuestion":
        return _external_question(root, allow_http_hosts)
    if root.name == "HTMLQuestion":
        return _html_question(root)
    if root.name == "QuestionForm":
        check_root(root, "QuestionForm", QUESTION_FORMS)
        return read_form(root)
    raise xml_error(
        f"cvc-elt.1: Cannot find the declaration of element '{root.name}'. "
        "One of 'ExternalQuestion, HTMLQuestion, QuestionForm' is expected."
    )


def parse_test(xml: str) -> QuestionForm:
    """Read the test of a qualification, which must be a form."""
    check_size("Test", xml)
    root = parse_xml(xml)
    check_root(root, "QuestionForm", QUESTION_FORMS)
    return read_form(root)


def _external_question(root: Element, allow_http_hosts: Collection[str]) -> ExternalQuestion:
    check_root(root, "ExternalQuestion", [EXTERNAL_QUESTION])
    children = Sequence(root)
    url = string(children.one("ExternalURL"))
    height = _frame_height(children)
    return ExternalQuestion(
        url=check_external_url(url, allow_http_hosts=allow_http_hosts), frame_height=height
    )


def _html_question(root: Element) -> HTMLQuestion:
    check_root(root, "HTMLQuestion", [HTML_QUESTION])
    children = Sequence(root)
    html = string(children.one("HTMLContent"))
    height = _frame_height(children)
    return HTMLQuestion(html=html, frame_height=height, has_form=check_html(html))


def _frame_height(children: Sequence) -> int:
    height = integer(children.one("FrameHeight"), at_least=0, at_most=MAX_FRAME_HEIGHT)
    children.end()
    return height
