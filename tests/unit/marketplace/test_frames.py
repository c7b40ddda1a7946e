"""Pages of requesters made ready for the frame; origins as browsers compare them."""

import pytest

from common.web.origins import origin_of
from marketplace.site.htmlpage import page_for_frame


def ready(html: str) -> str:
    return page_for_frame(
        html,
        submit_url="https://here.example/marketplace/mturk/externalSubmit",
        assignment_id='3A"<',
        old_script="https://here.example/old.js",
        crowd_script="https://here.example/crowd.js",
    )


@pytest.mark.parametrize(
    "address",
    [
        "https://www.mturk.com/mturk/externalSubmit",
        "http://www.mturk.com/mturk/externalSubmit",
        "//workersandbox.mturk.com/mturk/externalSubmit",
        "https://workersandbox.mturk.com//mturk/externalSubmit",
        "/mturk/externalSubmit",
    ],
)
def test_forms_post_here(address: str) -> None:
    for quote in ("'", '"', ""):
        tag = f"<form method=post action={quote}{address}{quote}>"
        assert ready(tag) == tag.replace(
            address, "https://here.example/marketplace/mturk/externalSubmit"
        )


@pytest.mark.parametrize(
    "kept",
    [
        "<form action='https://example.org/mturk/externalSubmit'>",
        "<a href='https://www.mturk.com/help'>",
        "<input name='assignmentIds' value='x'>",
        "<input data-name='assignmentId' value='x'>",
        "<p>name='assignmentId' value=''</p>",
        "<img src='https://s3.amazonaws.com/mine/externalHIT.js'>",
    ],
)
def test_all_else_is_left_alone(kept: str) -> None:
    assert ready(kept) == kept


def test_the_assignment_is_filled_in() -> None:
    filled = ready("<input type='hidden' value='' name='assignmentId' id='assignmentId'/>")
    assert filled.count("value=") == 1
    assert 'value="3A&quot;&lt;"' in filled
    assert ready('<INPUT NAME="x" data-a=">" name="assignmentId">').startswith(
        '<INPUT value="3A&quot;&lt;" NAME='
    )


def test_old_scripts_come_from_here() -> None:
    old = '<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>'
    assert ready(old) == '<script src="https://here.example/old.js"></script>'
    crowd = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
    assert ready(crowd) == '<script src="https://here.example/crowd.js"></script>'


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Example.org/a?b#c", "https://example.org"),
        ("https://example.org:443/", "https://example.org"),
        ("http://example.org:443/", "http://example.org:443"),
        ("http://localhost:8000/x", "http://localhost:8000"),
        ("http://[::1]:80/x", "http://[::1]"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
    ],
)
def test_origins(url: str, origin: str) -> None:
    assert origin_of(url) == origin
