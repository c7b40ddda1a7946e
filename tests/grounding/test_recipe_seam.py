"""A second recipe, registered here alone, runs from the command line and on the pages."""

import json
from pathlib import Path
from typing import Annotated, Literal

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from msgspec import Meta

from annotation.pipeline.release.folder import read_image
from grounding.__main__ import main
from grounding.actions import ExperimentError, experiment_start
from grounding.models import Experiment, ExperimentStatus
from grounding.pipeline.store.features import FeatureKey
from grounding.pipeline.store.plans import Regions
from grounding.pipeline.vision.regions import gold_regions
from grounding.recipes.options import options_of
from grounding.recipes.recipe import (
    Corpus,
    Materials,
    Metrics,
    Outcome,
    Recipe,
    Row,
    Settings,
    Table,
)
from grounding.recipes.registry import RECIPES, recipe_find
from grounding.tasks import grounding_work
from tests.grounding.test_experiment_tasks import folders
from tests.web.accounts import researcher

__all__ = ["folders"]
LITE = "efficientnet-lite0"


class TinySettings(Settings, frozen=True, kw_only=True):
    """A setting of each kind."""

    per_phrase: Annotated[int, Meta(ge=1, title="Regions of a phrase", description="at most")] = 3
    alphas: Annotated[tuple[Annotated[float, Meta(ge=0, le=1)], ...], Meta(min_length=1)] = (0.7,)
    finder: Literal["parser", "grammar"] = "grammar"
    is_strict: bool = False


def regions(corpus: Corpus, settings: TinySettings) -> Regions:
    return lambda image: gold_regions(read_image(corpus.release, image))


def run(materials: Materials, settings: TinySettings) -> Outcome:
    """Count the regions of val by entity type, to have a table whose columns are types."""
    counts: dict[str, int] = {}
    for done, image in enumerate(materials.splits["val"], 1):
        materials.report("counting regions", done, len(materials.splits["val"]))
        released = read_image(materials.corpus.release, image)
        keys = [
            FeatureKey(materials.corpus.photos[image].sha256, box) for box in gold_regions(released)
        ]
        assert len(materials.store.read(keys)) == len(keys), "regions were extracted too"
        for sentence in released.sentences:
            for phrase in sentence.phrases:
                for kind in phrase.types:
                    counts[kind] = counts.get(kind, 0) + settings.per_phrase
    metrics = {"types": counts}
    notes = [f"Alphas {settings.alphas}, finder {settings.finder}, strict {settings.is_strict}."]
    return Outcome(metrics, tables(metrics), notes, files={"boxes": {"predicted": []}})


def tables(metrics: Metrics) -> list[Table]:
    counts = metrics["types"]
    row = Row(("instances",), tuple(str(count) for count in counts.values()))
    return [Table("Localisation by type", ("Measure",), tuple(counts), (row,), "Made up.")]


TINY = Recipe(
    name="tiny",
    title="Tiny localisation",
    summary="Counts mentions by type.",
    settings=TinySettings,
    stages=("counting regions",),
    run=run,
    tables=tables,
    headline=lambda metrics: f"{sum(metrics['types'].values())} mentions",
    regions=regions,
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, TINY.name, TINY)


def command(folder: Path, *more: str) -> list[str]:
    release = folder / "releases" / "demo"
    return [
        *("run", "tiny", "--release", str(release), "--images", str(release / "photos")),
        *("--store", str(folder / "features"), "--out", str(folder / "out")),
        *("--vectors", "captions", "--crops", "whole", *more),
    ]


@pytest.mark.slow
@pytest.mark.once
def test_it_runs_from_the_command_line(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("--per-phrase", "2", "--alphas", "0,0.5", "--finder", "parser", "--is-strict", "true")
    assert main(command(folders, *more)) == 0
    printed = capsys.readouterr().out
    metrics = json.loads((folders / "out" / "metrics.json").read_text())
    heading, row = printed.splitlines()[:2]
    assert heading.split() == ["Measure", *metrics["types"]]
    assert row.split() == ["instances", *map(str, metrics["types"].values())]
    assert "Alphas (0.0, 0.5), finder parser, strict True." in printed
    assert "metrics.json, boxes.json, settings.json" in printed
    about = json.loads((folders / "out" / "settings.json").read_text())
    assert about["recipe"] == "tiny"
    assert about["settings"]["alphas"] == [0.0, 0.5]
    assert json.loads((folders / "out" / "boxes.json").read_text()) == {"predicted": []}


@pytest.mark.parametrize(
    ("flag", "text", "expected"),
    [
        ("--per-phrase", "0", "give a whole number of at least 1"),
        ("--alphas", "0.5,2", "give a number of at least 0 and at most 1, or several"),
        ("--alphas", "", "give a number of at least 0 and at most 1, or several"),
        ("--finder", "guess", "give one of parser, grammar"),
        ("--is-strict", "perhaps", "give one of true, false"),
    ],
)
def test_its_options_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, text: str, expected: str
) -> None:
    with pytest.raises(SystemExit):
        main(command(tmp_path, flag, text))
    assert f"argument {flag}: “{text}” is not valid: {expected}" in capsys.readouterr().err


def test_its_help_lists_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "tiny", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Counts mentions by type." in printed
    assert "--per-phrase PER_PHRASE at most (default: 3)" in printed
    assert "--finder {parser,grammar} (default: grammar)" in printed
    assert "--ridges" not in printed


def test_options_that_are_no_finite_numbers_are_refused() -> None:
    class Free(Settings, frozen=True, kw_only=True):
        weight: float = 1.0

    (weight, _) = options_of(Free)
    assert weight.parse(" 0.5 ") == 0.5
    for text in ("inf", "nan", "much"):
        with pytest.raises(ValueError, match="is not valid: give a number"):
            weight.parse(text)


@pytest.fixture
def chief(client: Client) -> Client:
    user = researcher()
    user.user_permissions.add(Permission.objects.get(codename="add_experiment"))
    client.force_login(user)
    return client


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_it_runs_from_the_form_to_the_page(chief: Client, folders: Path) -> None:
    page = chief.get(reverse("experiments")).content.decode()
    assert '<a href="?recipe=tiny">Tiny localisation</a>' in page
    page = chief.get(reverse("experiments"), {"recipe": "tiny"}).content.decode()
    assert "Counts mentions by type." in page
    assert 'for="id_setting-per_phrase">Regions of a phrase</label>' in page
    assert 'name="setting-alphas" value="0.7"' in page
    sent = {"recipe": "tiny", "release": "demo", "vectors": "captions", "backbone": LITE}
    sent |= {"setting-per_phrase": "2", "setting-finder": "parser", "setting-alphas": ""}
    reply = chief.post(reverse("experiments"), sent)
    made = Experiment.objects.get()
    assert reply.headers["Location"] == reverse("experiment", args=[made.pk])
    assert (made.recipe, made.settings["per_phrase"]) == ("tiny", 2)
    Experiment.objects.update(status=ExperimentStatus.RUNNING, step="Counting regions")
    assert "Step 4 of 4" in chief.get(reverse("experiment", args=[made.pk])).content.decode()
    Experiment.objects.update(status=ExperimentStatus.WAITING, step="")
    grounding_work()
    made.refresh_from_db()
    assert (made.status, made.error) == (ExperimentStatus.DONE, "")
    assert made.metrics is not None
    shown = chief.get(reverse("experiment", args=[made.pk])).content.decode()
    assert "<h1>Tiny localisation on demo</h1>" in shown
    assert "<h2>Localisation by type</h2>" in shown
    for kind, count in made.metrics["types"].items():
        assert f'<th scope="col">{kind}</th>' in shown
        assert f"<td>{count}</td>" in shown
    assert "finder parser, strict False." in shown
    assert "<dt>Regions of a phrase</dt><dd>2</dd>" in shown
    assert "<dt>Alphas</dt>" not in shown, "it has its default"
    total = sum(made.metrics["types"].values())
    assert f"{total} mentions" in chief.get(reverse("experiments")).content.decode()


@pytest.mark.django_db
def test_wrong_settings_are_refused_on_the_page(chief: Client, folders: Path) -> None:
    sent = {"recipe": "tiny", "release": "demo", "vectors": "captions", "backbone": LITE}
    for wrong in ({"setting-per_phrase": "0"}, {"setting-alphas": "7"}, {"setting-finder": "x"}):
        reply = chief.post(reverse("experiments"), sent | wrong)
        assert reply.status_code == 400
        assert "<details open>" in reply.content.decode()
    assert chief.post(reverse("experiments"), sent | {"recipe": "x"}).status_code == 404
    assert chief.get(reverse("experiments"), {"recipe": "x"}).status_code == 404
    with pytest.raises(ExperimentError, match="invalid settings for tiny"):
        experiment_start(
            recipe="tiny",
            release="demo",
            vectors_name="captions",
            backbone=LITE,
            by=None,
            recipe_settings={"per_phrase": 0},
        )
    assert not Experiment.objects.exists()


@pytest.mark.django_db
def test_one_whose_recipe_is_gone_is_still_shown(chief: Client) -> None:
    made = Experiment.objects.create(
        recipe="gone", release="x", status=ExperimentStatus.DONE, metrics={"a": 1}, step="x"
    )
    assert "gone on x" in chief.get(reverse("experiment", args=[made.pk])).content.decode()
    assert chief.get(reverse("experiments")).status_code == 200
    with pytest.raises(ValueError, match="unknown recipe 'gone'; choose one of: image_sentence"):
        recipe_find("gone")
