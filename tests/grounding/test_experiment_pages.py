"""Experiments on the dashboard: who may start them, what is refused, and what the pages show."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django.fixtures import Settings

from grounding.actions import (
    SILENCE,
    AbandonedError,
    ExperimentError,
    experiment_fail,
    experiment_finish,
    experiment_progress,
    experiment_retry,
    experiment_start,
    experiment_take,
)
from grounding.models import Experiment, ExperimentStatus
from tests.web.accounts import researcher

pytestmark = pytest.mark.django_db
LITE = "efficientnet-lite0"
RETRIEVAL = {"r1": 12.5, "r5": 37.5, "r10": 62.5, "median_rank": 7.0}
METRICS = {
    "val": {"image_to_sentence": RETRIEVAL, "sentence_to_image": RETRIEVAL},
    "test": None,
}


@pytest.fixture(autouse=True)
def releases(tmp_path: Path, settings: Settings) -> Path:
    """A folder with a release that can be used, and two that cannot."""
    settings.CHAINBOX_RELEASES = tmp_path / "releases"
    settings.CHAINBOX_VECTORS = tmp_path / "vectors"
    for name, splits in {"whole": ("train", "val"), "bare": ("train", "val"), "cut": ()}.items():
        folder = tmp_path / "releases" / name
        (folder / "Sentences").mkdir(parents=True)
        for split in splits:
            (folder / f"{split}.txt").write_text("1\n2\n")
        if name != "bare":
            (folder / "photos").mkdir()
    (tmp_path / "releases" / "no release").mkdir()
    (tmp_path / "secret.txt").write_text("a 1")
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "glove.txt").write_text("a 1")
    return tmp_path / "releases"


def start(release: str = "whole", vectors: str = "captions") -> Experiment:
    return experiment_start(
        recipe="image_sentence", release=release, vectors_name=vectors, backbone=LITE, by=None
    )


@pytest.fixture
def chief(client: Client) -> Client:
    """Somebody who may start experiments."""
    user = researcher()
    user.user_permissions.add(Permission.objects.get(codename="add_experiment"))
    client.force_login(user)
    return client


def test_from_the_form_to_its_page(chief: Client) -> None:
    page = chief.get(reverse("experiments")).content.decode()
    assert "whole: 2 train, 2 val" in page
    assert "bare: 2 train, 2 val (without photos)" in page
    assert "no release" not in page
    sent = {
        "recipe": "image_sentence",
        "release": "whole",
        "vectors": "glove.txt",
        "backbone": LITE,
    }
    reply = chief.post(reverse("experiments"), sent)
    made = Experiment.objects.get()
    assert reply.headers["Location"] == reverse("experiment", args=[made.pk])
    assert (made.release, made.vectors, made.status) == ("whole", "glove.txt", "waiting")
    assert made.by == User.objects.get()
    shown = chief.get(reverse("experiment", args=[made.pk])).content.decode()
    assert "Waiting for a worker" in shown
    assert 'http-equiv="refresh"' in shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"release": "../releases/whole"},
        {"release": "no release"},
        {"vectors": "../secret.txt"},
        {"backbone": "/etc/passwd"},
        {"release": "bare"},
        {"release": "cut"},
    ],
)
def test_what_is_not_there_is_refused_in_words(chief: Client, wrong: dict[str, str]) -> None:
    sent = {
        "recipe": "image_sentence",
        "release": "whole",
        "vectors": "captions",
        "backbone": LITE,
    } | wrong
    reply = chief.post(reverse("experiments"), sent)
    assert reply.status_code == 400
    assert 'role="alert"' in reply.content.decode()
    assert not Experiment.objects.exists()


def test_who_only_looks_starts_nothing(client: Client) -> None:
    made = start()
    client.force_login(researcher())
    page = client.get(reverse("experiments")).content.decode()
    assert "Start</button>" not in page
    sent = {"recipe": "image_sentence", "release": "whole", "vectors": "captions", "backbone": LITE}
    assert client.post(reverse("experiments"), sent).status_code == 403
    assert client.post(reverse("experiment-retry", args=[made.pk])).status_code == 403
    assert Experiment.objects.count() == 1


def test_a_result_is_shown(chief: Client) -> None:
    start()
    taken = experiment_take()
    assert taken is not None
    experiment_progress(experiment=taken, step="extracting", done=3, total=12)
    shown = chief.get(reverse("experiment", args=[taken.pk])).content.decode()
    assert 'value="25"' in shown
    assert "3 of 12" in shown
    experiment_finish(experiment=taken, metrics=METRICS, notes="Chosen: <ridge>")
    shown = chief.get(reverse("experiment", args=[taken.pk])).content.decode()
    assert "refresh" not in shown
    assert shown.count("<td>62.5</td>") == 2
    assert "Chosen: &lt;ridge&gt;" in shown
    assert re.search(r"Took</dt><dd>\d+ seconds?<", shown)
    Experiment.objects.update(started_at=F("ended_at") - timedelta(minutes=150))
    shown = chief.get(reverse("experiment", args=[taken.pk])).content.decode()
    assert "Took</dt><dd>2\xa0hours, 30\xa0minutes<" in shown
    assert "R@10 on val" in chief.get(reverse("experiments")).content.decode()


def test_the_list_takes_as_many_statements_for_any_number(chief: Client) -> None:
    start()
    with CaptureQueriesContext(connection) as one:
        chief.get(reverse("experiments"))
    for _ in range(20):
        start()
    with CaptureQueriesContext(connection) as many:
        chief.get(reverse("experiments"))
    assert len(one) == len(many)


def test_each_is_taken_once_and_in_turn(settings: Settings) -> None:
    settings.CHAINBOX_EXPERIMENTS_AT_ONCE = 3
    first, second = start(), start()
    assert experiment_take() == first
    assert experiment_take() == second
    assert experiment_take() is None


def test_no_more_are_run_at_once_than_may_be() -> None:
    start()
    second = start()
    running = experiment_take()
    assert running is not None
    assert experiment_take() is None
    experiment_finish(experiment=running, metrics=METRICS, notes="")
    assert experiment_take() == second


def test_whose_worker_died_is_taken_up_by_another(chief: Client) -> None:
    start()
    dead = experiment_take()
    assert dead is not None
    dead.refresh_from_db()
    assert dead.beat_at is not None
    Experiment.objects.update(beat_at=dead.beat_at - SILENCE - timedelta(seconds=1))
    alive = experiment_take()
    assert alive == dead
    # Not dead, only slow: its report is ignored.
    with pytest.raises(AbandonedError):
        experiment_finish(experiment=dead, metrics=METRICS, notes="")
    assert alive is not None
    experiment_fail(experiment=alive, error="The disk is full.")
    alive.refresh_from_db()
    assert (alive.status, alive.metrics) == (ExperimentStatus.FAILED, None)
    assert "The disk is full." in chief.get(reverse("experiment", args=[alive.pk])).content.decode()


def test_a_failed_one_is_tried_again(chief: Client) -> None:
    made = start()
    taken = experiment_take()
    assert taken is not None
    experiment_fail(experiment=taken, error="The disk is full.")
    assert experiment_take() is None
    chief.post(reverse("experiment-retry", args=[made.pk]))
    made.refresh_from_db()
    assert (made.status, made.error) == (ExperimentStatus.WAITING, "")
    again = experiment_take()
    assert again == made
    # One that runs is not begun again by that.
    experiment_retry(experiment=made)
    assert experiment_take() is None


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(ExperimentError, match="no recipe 'guess'"):
        experiment_start(
            recipe="guess", release="whole", vectors_name="captions", backbone=LITE, by=None
        )


def test_without_a_release_the_page_says_how_to_make_one(chief: Client, settings: Settings) -> None:
    settings.CHAINBOX_RELEASES = Path("/nowhere")
    assert "release_build" in chief.get(reverse("experiments")).content.decode()


def silence() -> None:
    """Let the worker of each running experiment be silent for too long."""
    Experiment.objects.update(beat_at=F("beat_at") - SILENCE - timedelta(seconds=1))


def test_one_that_ends_its_workers_is_given_up_and_says_so(client: Client) -> None:
    deadly, harmless = start(), start()
    for _ in range(3):
        taken = experiment_take()
        assert taken == deadly
        silence()
    # The next worker takes the experiment behind it.
    assert experiment_take() == harmless
    deadly.refresh_from_db()
    assert (deadly.status, deadly.deaths) == (ExperimentStatus.FAILED, 3)
    assert deadly.ended_at is not None
    assert "3 workers in a row died" in deadly.error
    # A worker that was only slow is ignored from now on.
    assert taken is not None
    with pytest.raises(AbandonedError):
        experiment_finish(experiment=taken, metrics=METRICS, notes="")
    client.force_login(researcher())
    page = client.get(reverse("experiment", args=[deadly.pk])).content.decode()
    assert "too little memory" in page


def test_asking_again_gives_it_as_many_workers_as_before() -> None:
    deadly = start()
    for _ in range(3):
        experiment_take()
        silence()
    assert experiment_take() is None
    deadly.refresh_from_db()
    experiment_retry(experiment=deadly)
    for _ in range(3):
        assert experiment_take() == deadly
        silence()
    assert experiment_take() is None


def test_what_failed_in_earnest_counts_no_worker() -> None:
    made = start()
    for _ in range(5):
        taken = experiment_take()
        assert taken == made
        assert taken.deaths == 0
        experiment_fail(experiment=taken, error="no photo")
        experiment_retry(experiment=taken)
