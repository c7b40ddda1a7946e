"""ExternalQuestion and HTMLQuestion, and documents that are refused."""

from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.errors import RequestError
from marketplace.rules.questions import (
    ExternalQuestion,
    HTMLQuestion,
    QuestionForm,
    frame_url,
    parse_answer_key,
    parse_question,
    parse_test,
    read_answers,
    safe_html,
)
from marketplace.rules.questions.schema import EXTERNAL_QUESTION
from tests.marketplace.questions.question_documents import external, form, html, question, refused


def test_an_external_question() -> None:
    found = parse_question(external("https://example.org/task?a=1&amp;b=2#top"))
    assert found == ExternalQuestion(url="https://example.org/task?a=1&b=2#top", frame_height=400)


def test_white_space_and_a_declaration_before_the_document() -> None:
    declared = '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    found = parse_question(f"\n   {declared}{external('  https://example.org/é  ')}\n")
    assert found == ExternalQuestion(url="https://example.org/é", frame_height=400)


def test_a_document_with_a_prefix_for_its_namespace() -> None:
    text = (
        f'<m:ExternalQuestion xmlns:m="{EXTERNAL_QUESTION}"><m:ExternalURL>https://a.org/'
        "</m:ExternalURL><m:FrameHeight>0</m:FrameHeight></m:ExternalQuestion>"
    )
    assert parse_question(text) == ExternalQuestion(url="https://a.org/", frame_height=0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (external("https://a.org/?a=1&b=2"), "not well-formed"),
        (external("https://a.org/", ""), "The content of element 'ExternalQuestion' is not"),
        (external("https://a.org/", "<FrameHeight/>"), "'FrameHeight'"),
        (external("https://a.org/", "<FrameHeight>-1</FrameHeight>"), "at least 0"),
        (external("https://a.org/", "<FrameHeight>4e2</FrameHeight>"), "an integer"),
        (external("https://a.org/", "<FrameHeight>1</FrameHeight><X/>"), "No child element"),
        (external("https://a.org/", "<FrameHeight>1</FrameHeight>words"), "character [children]"),
        (external("<b/>"), "'ExternalURL' takes text only"),
        (external("https://a.org/").replace(EXTERNAL_QUESTION, "x"), EXTERNAL_QUESTION),
        ("<ExternalQuestion/>", "cvc-elt.1"),
        ("<Question/>", "'ExternalQuestion, HTMLQuestion, QuestionForm'"),
        ("", "no element found"),
        ("Just words", "syntax error"),
        ("\ud800", "characters that XML does not allow"),
    ],
)
def test_a_bad_document_is_refused_with_the_reason(text: str, words: str) -> None:
    with refused("XMLParseError", "There was an error parsing the XML question", words):
        parse_question(text)


def test_the_wording_for_an_element_out_of_place() -> None:
    text = (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><FrameHeight>1</FrameHeight>'
        "<ExternalURL>https://a.org/</ExternalURL></ExternalQuestion>"
    )
    with pytest.raises(RequestError) as caught:
        parse_question(text)
    assert caught.value.turk_error_code == "AWS.MechanicalTurk.XMLParseError"
    assert str(caught.value) == (
        "There was an error parsing the XML question or answer data in your request.  Please make "
        "sure the data is well-formed and validates against the appropriate schema. Details: "
        "cvc-complex-type.2.4.a: Invalid content was found starting with element 'FrameHeight'. "
        f"One of '{{\"{EXTERNAL_QUESTION}\":ExternalURL}}' is expected."
    )


@pytest.mark.parametrize(
    "url",
    ["http://localhost/", "http://localhost:8000/x?y=1", "http://127.0.0.1/", "http://[::1]:80/"],
)
def test_http_will_do_for_a_local_page(url: str) -> None:
    assert parse_question(external(url)) == ExternalQuestion(url=url, frame_height=400)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://localhost.example.org/",
        "http://127.0.0.1.example.org/",
        "http://127.0.0.1@example.org/",
        "https://worker:secret@example.org/",
        "https://example.org\\@evil.org/",
        "http://localhost\\.example.org/",
        "javascript:alert(1)",
        "java&#10;script:alert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        "//example.org/",
        "/task",
        "https:///task",
        "https:example.org",
        "https://example.org:port/",
        "https://[::1/",
        "https://exam ple.org/",
        "https://example.org/a&#9;b",
        "",
    ],
)
def test_an_address_that_no_frame_may_show(url: str) -> None:
    with refused("InvalidParameterValue", "is not valid for the parameter ExternalURL. It"):
        parse_question(external(url))


def test_hosts_that_may_be_http_are_the_callers_choice() -> None:
    parse_question(external("http://web:8000/"), allow_http_hosts=["web"])
    with refused("InvalidParameterValue", "https://"):
        parse_question(external("http://localhost/"), allow_http_hosts=[])


def test_the_frame_address_of_an_accepted_assignment() -> None:
    assert (
        frame_url(
            "https://example.org/t?x=a%20b&y=é#part",
            hit_id="3HIT",
            assignment_id="3ASG",
            worker_id="AWORKER",
            submit_to="https://market.example/marketplace/",
        )
        == "https://example.org/t?x=a%20b&y=é&assignmentId=3ASG&hitId=3HIT&workerId=AWORKER"
        "&turkSubmitTo=https%3A%2F%2Fmarket.example%2Fmarketplace#part"
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.org", "https://a.org?{}"),
        ("https://a.org/?", "https://a.org/?{}"),
        ("https://a.org/?b=1&", "https://a.org/?b=1&{}"),
        ("https://a.org/?b", "https://a.org/?b&{}"),
        ("https://a.org/#c?d", "https://a.org/?{}#c?d"),
    ],
)
def test_a_preview_tells_neither_worker_nor_place_to_submit(url: str, expected: str) -> None:
    found = frame_url(url, hit_id="3HIT", worker_id="AWORKER", submit_to="https://market.example")
    assert found == expected.format("assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3HIT")


@given(st.dictionaries(st.text(min_size=1), st.text(min_size=1), max_size=3), st.text(min_size=1))
def test_the_frame_address_keeps_its_query_and_escapes_what_it_adds(
    query: dict[str, str], submit_to: str
) -> None:
    encodable = {k.encode("utf-8", "replace").decode(): v for k, v in query.items()}
    before = urlencode(encodable, errors="replace")
    submit_to = submit_to.encode("utf-8", "replace").decode()
    url = frame_url(
        f"https://a.org/?{before}#f", hit_id="3H", assignment_id="3A", submit_to=submit_to
    )
    parts = urlsplit(url)
    assert parts.fragment == "f"
    expected = [*parse_qsl(before, keep_blank_values=True), ("assignmentId", "3A"), ("hitId", "3H")]
    expected.append(("turkSubmitTo", submit_to.rstrip("/")))
    assert parse_qsl(parts.query, keep_blank_values=True) == expected


def test_an_html_question() -> None:
    page = "<!DOCTYPE html>\n<html><body><form name='f'>a &amp; b</form></body></html>"
    found = parse_question(html(page))
    assert found == HTMLQuestion(html=page, frame_height=0, has_form=True)


@pytest.mark.parametrize(
    ("page", "has_form"),
    [
        ("<p>Look at this</p>", False),
        ("<crowd-form><crowd-input name=x></crowd-input></crowd-form></html>", True),
        ("<FORM action='x'><p>never closed", True),
        ("<script>document.write('<form>')</script>", False),
        ("<p><!-- <form> --></p>", False),
        ("<p title='<form>'>a<b</p>", False),
        ("<form a=\"x\" b='y' c=1 d=/></form>", True),
    ],
)
def test_html_is_taken_leniently(page: str, has_form: bool) -> None:
    found = parse_question(html(page))
    assert isinstance(found, HTMLQuestion)
    assert found.has_form is has_form


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", "no HTML element"),
        ("Just words, 1 < 2", "no HTML element"),
        ("<form", "no HTML element"),
        ("<form a='1'", "no HTML element"),
        ('<form action="/elsewhere>', "no HTML element"),
        ("<p>\n<body></body> <body>", "<! [2,15] Start tag 'body' seen a second time !>"),
        ('<form a="1"b="2">', "No space between attributes of 'form'"),
    ],
)
def test_html_that_is_none(page: str, words: str) -> None:
    with refused("InvalidParameterValue", "error parsing the HTML5 data", words):
        parse_question(html(page))


def test_the_first_five_faults_of_a_page_are_listed() -> None:
    many = "<body>" * 4 + "<p a=''b=''c=''d=''>"
    with pytest.raises(RequestError) as caught:
        parse_question(html(many))
    assert str(caught.value).count("Start tag 'body' seen a second time") == 3
    assert str(caught.value).count("No space between attributes of 'p'") == 2


def test_html_in_the_wrong_order() -> None:
    text = html("<form/>").replace("<FrameHeight>0</FrameHeight>", "")
    text = text.replace("<HTMLContent>", "<FrameHeight>0</FrameHeight><HTMLContent>")
    with refused("XMLParseError", "starting with element 'FrameHeight'", "HTMLContent"):
        parse_question(text)


def test_entities_that_grow_are_refused() -> None:
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE x [<!ENTITY e0 "ha">{lines}]>' + external("https://a.org/&e9;")
    with refused("XMLParseError", "DOCTYPE"):
        parse_question(text)


def test_entities_from_outside_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://secret.example/")
    text = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>' + external("&s;")
    with refused("XMLParseError", "DOCTYPE"):
        parse_question(text)
    with refused("XMLParseError", "DOCTYPE"):
        parse_question(f'<!DOCTYPE x SYSTEM "{secret.as_uri()}">' + external("https://a.org/"))


def test_a_tower_of_elements_is_refused() -> None:
    with refused("XMLParseError", "100 deep"):
        parse_question("<a>" * 5000 + "</a>" * 5000)


def test_a_document_longer_than_allowed() -> None:
    with refused("InvalidParameterValue", "Question", "65535"):
        parse_question(html("<form/>" + "é" * 33_000))
    parse_question(html("<form/>" + "e" * 33_000))


ALPHABET = st.one_of(
    st.text(),
    st.text(alphabet="<>/&;\"'=!-[]? abq:#\n\x00"),
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<b ", "/>", "<td", "<!--", "&nbsp;", "<![CDATA[", "]]>", "href='x:'"]
        )
    ).map("".join),
)


@given(ALPHABET)
def test_whatever_is_sent_is_read_or_refused(text: str) -> None:
    test = parse_test(form(question()))
    wrapped = [text, external(text), html(text), form(text), form(question(text))]
    for document in wrapped:
        for read in (
            parse_question,
            parse_test,
            read_answers,
            safe_html,
            lambda xml: parse_answer_key(xml, test),
        ):
            try:
                assert read(document) is not None
            except RequestError:
                continue


def test_a_test_must_be_a_form() -> None:
    with refused("XMLParseError", "QuestionForm"):
        parse_test(external("https://a.org/"))
    assert isinstance(parse_test(form(question())), QuestionForm)
