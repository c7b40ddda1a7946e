"""Review decisions in the administration: each becomes one fact, or is refused with a reason."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.protocol.facts import decision_record
from annotation.admin.decision_forms import FORMS
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol import facts
from annotation.pipeline.protocol.facts import decode_body
from annotation.selectors.protocol.state import image_differences, settings_by_id
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.review.admin_pages import page, staff, text_of

pytestmark = pytest.mark.django_db
RECT: dict[str, object] = {"xmin": "2", "ymin": "3", "xmax": "20", "ymax": "30"}


@pytest.fixture
def image(tmp_path: Path) -> models.Image:
    """An image with two chains, the men and the horse, with a box each."""
    found = image_named(small_campaign(tmp_path, ["first"]), "first")
    answer(found)
    return found


@pytest.fixture
def chief(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("chief"))
    return client


def chain_address(image: models.Image, number: int = 1) -> str:
    row = models.Chain.objects.get(image=image, number=number)
    return reverse("admin:annotation_chain_decide", args=[row.pk])


def image_address(image: models.Image) -> str:
    return reverse("admin:annotation_image_decide", args=[image.pk])


def seen(source: str) -> str:
    found = re.search(r'name="seen" value="(\w*)"', source)
    assert found
    return found[1]


def decisions(image: models.Image) -> list[facts.Body]:
    rows = models.Fact.objects.filter(image=image, worker=None).order_by("number")
    return [decode_body(row.body) for row in rows]


def box_of(image: models.Image, chain: int) -> int:
    (box,) = (b.number for b in models.Box.objects.filter(image=image) if chain in b.chains)
    return box


def test_every_decision_of_the_protocol_has_a_form() -> None:
    tags = {kind.__struct_config__.tag for kind in (*facts.Decision.__args__, facts.Undo)}
    assert set(FORMS) == tags


def cases() -> list[tuple[str, dict[str, object], object]]:
    """Each form about the chain of the men, whose mentions are 1 and 3; BOX is their box."""
    return [
        ("split", {"mentions": ["3"]}, {"chain": 1, "mentions": (3,), "boxes": ()}),
        (
            "split",
            {"mentions": ["3"], "boxes": ["BOX"]},
            {"chain": 1, "mentions": (3,), "boxes": ("BOX",)},
        ),
        ("join", {"chains": ["2"]}, {"chains": (1, 2)}),
        ("box_add", RECT, {"chain": 1, "rect": Rect(2, 3, 20, 30)}),
        ("box_adjust", RECT | {"box": "BOX"}, {"box": "BOX", "rect": Rect(2, 3, 20, 30)}),
        ("box_delete", {"box": "BOX"}, {"box": "BOX"}),
        ("no_box", {"scene": "on"}, {"chain": 1, "scene": True, "nobndbox": False}),
        ("retype", {"mention": "1", "types": ["animals", "other"]}, None),
        (
            "fix_span",
            {"mention": "1", "first": "2", "last": "3"},
            {"mention": 1, "start": 1, "end": 3},
        ),
        (
            "send_to",
            {"target": "coverage", "reason": "look again"},
            {"chain": 1, "target": facts.Target.COVERAGE, "reason": "look again"},
        ),
        (
            "caption_unrelated",
            {"caption": "2", "unrelated": "1"},
            {"caption": 2, "unrelated": True},
        ),
    ]


@pytest.mark.parametrize(("name", "data", "expected"), cases())
def test_a_decision_becomes_its_fact(
    chief: Client,
    image: models.Image,
    name: str,
    data: dict[str, object],
    expected: dict[str, object] | None,
) -> None:
    box = box_of(image, 1)
    path = chain_address(image)
    sent = {key: _with_box(value, str(box)) for key, value in data.items()}
    form = {"decision": name, "seen": seen(page(chief, path)), **sent}
    response = chief.post(path, form, follow=True)
    assert response.status_code == 200
    assert response.redirect_chain
    (body,) = decisions(image)
    assert facts.body_kind(body) == name
    assert getattr(body, "reviewer", None) == User.objects.get(username="chief").pk
    for key, value in (expected or {"mention": 1, "types": ("animals", "other")}).items():
        assert getattr(body, key) == _with_box(value, box)
    assert "Reviewer" in text_of(response.content.decode()), "it is said what was done"
    stored = models.Image.objects.get(pk=image.pk)
    assert image_differences(stored, settings_by_id()) == []


def _with_box(value: object, box: object) -> object:
    if isinstance(value, list | tuple):
        return type(value)(_with_box(part, box) for part in value)
    return box if value == "BOX" else value


def test_what_is_refused_is_said_in_plain_words(chief: Client, image: models.Image) -> None:
    path = chain_address(image)
    for data, words in (
        ({"decision": "no_box"}, "choose whether the chain is a scene, has no box, or both"),
        ({"decision": "split", "mentions": ["1", "3"]}, "not all"),
        ({"decision": "box_add", **RECT, "xmax": "61"}, "lies outside the 60×40 image"),
        ({"decision": "fix_span", "mention": "1", "first": "1", "last": "5"}, "overlap mention 2"),
        ({"decision": "send_to", "target": "requirement"}, "has boxes; delete them first"),
    ):
        response = chief.post(path, {"seen": seen(page(chief, path)), **data})
        assert response.status_code == 422
        assert words in text_of(response.content.decode())
    assert decisions(image) == []


def test_nonsense_is_no_decision(chief: Client, image: models.Image) -> None:
    path = chain_address(image)
    for data in (
        {},
        {"decision": "erase"},
        {"decision": "split", "mentions": ["2"]},
        {"decision": "split"},
        {"decision": "box_add", "xmin": "left"},
        {"decision": "box_delete", "box": "99"},
        {"decision": "retype", "mention": "1", "types": ["weather"]},
        {"decision": "send_to", "target": "moon"},
    ):
        response = chief.post(path, {"seen": seen(page(chief, path)), **data})
        assert response.status_code == 422
    assert decisions(image) == []


def test_a_form_that_is_sent_twice_counts_once(chief: Client, image: models.Image) -> None:
    path = chain_address(image)
    form = {"decision": "box_add", "seen": seen(page(chief, path)), **RECT}
    assert chief.post(path, form).status_code == 302
    response = chief.post(path, form)
    assert response.status_code == 422
    assert "chain 1 has changed since you opened the page" in response.content.decode()
    assert len(decisions(image)) == 1
    # What happens to other chains does not matter.
    form["seen"] = seen(page(chief, path))
    decision_record(image_id=image.pk, decision=facts.BoxDelete(reviewer=1, box=box_of(image, 2)))
    assert chief.post(path, form).status_code == 302


def test_a_decision_is_taken_back(chief: Client, image: models.Image) -> None:
    before = models.StoredState.objects.get(pk=image.pk).state.chains
    path = chain_address(image)
    chief.post(path, {"decision": "split", "seen": seen(page(chief, path)), "mentions": ["3"]})
    path = chain_address(image)
    source = page(chief, path)
    number = models.Fact.objects.filter(image=image).count()
    assert f"{number}: Reviewer" in text_of(source)
    chief.post(path, {"decision": "undo", "seen": seen(source), "of": str(number)})
    assert models.StoredState.objects.get(pk=image.pk).state.chains == before
    assert "undo" not in re.findall(r'name="decision" value="(\w+)"', page(chief, path))


def test_an_image_without_chains_in_review(chief: Client, image: models.Image) -> None:
    path = image_address(image)
    names = set(re.findall(r'name="decision" value="(\w+)"', page(chief, path)))
    assert names == {"retype", "fix_span", "caption_unrelated"}
    form = {"decision": "caption_unrelated", "caption": "2", "unrelated": "1"}
    assert chief.post(path, form).status_code == 302
    (body,) = decisions(image)
    assert isinstance(body, facts.CaptionUnrelated)
    assert chief.post(path, {"decision": "no_box", "scene": "on"}).status_code == 422


def test_a_chain_that_a_decision_ends_leads_to_its_image(
    chief: Client, image: models.Image
) -> None:
    path = chain_address(image, 2)
    form = {"decision": "join", "seen": seen(page(chief, path)), "chains": ["1"]}
    response = chief.post(path, form)
    assert response.headers["Location"] == reverse("admin:annotation_image_change", args=[image.pk])


def test_there_is_nothing_to_decide_about_a_withdrawn_image(
    chief: Client, image: models.Image
) -> None:
    image_withdraw(image=image, reason="rights")
    response = chief.post(image_address(image), {"decision": "undo", "of": "1"}, follow=True)
    text = text_of(response.content.decode())
    assert "was withdrawn: there is nothing to decide" in text
    assert "This image was withdrawn: rights" in text
    assert decisions(image) == []


def test_deciding_takes_a_permission(image: models.Image) -> None:
    path = chain_address(image)
    viewer = staff("view_chain", "view_image")
    assert viewer.get(path).status_code == 403
    assert viewer.post(path, {"decision": "no_box", "scene": "on"}).status_code == 403
    assert viewer.get(image_address(image)).status_code == 403
    row = models.Chain.objects.get(image=image, number=1)
    shown = viewer.get(reverse("admin:annotation_chain_change", args=[row.pk])).content.decode()
    assert "decide" not in shown
    assert decisions(image) == []
