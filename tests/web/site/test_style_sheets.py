"""The style sheets of both sites: the shared one first, then the site's own."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "own"),
    [("/accounts/login/", "dashboard/site.css"), ("/marketplace/login/", "marketplace/site.css")],
)
def test_a_page_loads_the_shared_sheet_before_its_own(client: Client, path: str, own: str) -> None:
    html = client.get(path).content.decode()
    sheets = re.findall(r'rel="stylesheet" href="/static/([^"]+)"', html)
    assert sheets == ["common/base.css", own]
    assert all(finders.find(sheet) for sheet in sheets)


@pytest.mark.parametrize("own", ["dashboard/site.css", "marketplace/site.css"])
def test_a_site_s_own_sheet_repeats_no_rule_of_the_shared_one(own: str) -> None:
    shared, other = rules("common/base.css"), rules(own)
    assert not {rule for rule in other if rule in shared}


def rules(sheet: str) -> set[str]:
    path = finders.find(sheet)
    assert path
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    # Those at the top level: a media query may repeat one.
    text = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)
    return {" ".join(rule.split()) for rule in re.findall(r"[^{}]+\{[^{}]*\}", text)}
