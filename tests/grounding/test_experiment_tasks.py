"""Experiments as workers run them: from the table to its result, alone and with others' help."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from celery import current_app
from pytest_django.fixtures import Settings

import annotation
from grounding.actions import experiment_start, experiment_take
from grounding.experiment import Network, Order, run_order
from grounding.models import Experiment, ExperimentStatus
from grounding.passes import PassPart, is_awaited, part_gather
from grounding.pipeline.progress import silent
from grounding.pipeline.store.claims import tidy_folders
from grounding.pipeline.store.features import FeatureKind
from grounding.tasks import (
    experiment_run,
    gpu_is_served,
    grounding_work,
    parts_awaited,
    pass_share,
)
from tests.grounding.small import contents
from tests.processes import ROOT, environment, wait_for
from tests.services import free_port
from tests.small_disk import small_disk

DEMO = Path(annotation.__file__).parent / "demo"


@pytest.fixture
def folders(tmp_path: Path, settings: Settings) -> Path:
    """The demo's photos and annotation as a release, under the folders of the settings."""
    (tmp_path / "releases").mkdir()
    (tmp_path / "releases" / "demo").symlink_to(DEMO)
    settings.CHAINBOX_RELEASES = tmp_path / "releases"
    settings.CHAINBOX_VECTORS = tmp_path / "vectors"
    settings.CHAINBOX_FEATURES = tmp_path / "features"
    settings.CHAINBOX_EXPERIMENTS = tmp_path / "experiments"
    return tmp_path


def ordered(vectors: str = "captions") -> Experiment:
    return experiment_start(
        recipe="image_sentence",
        release="demo",
        vectors_name=vectors,
        backbone="efficientnet-lite0",
        by=None,
    )


# The thread that notes progress has a connection of its own.
@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_worker_does_what_waits(folders: Path) -> None:
    made = ordered()
    grounding_work()
    made.refresh_from_db()
    assert (made.status, made.error) == (ExperimentStatus.DONE, "")
    assert made.started_at is not None
    assert made.ended_at is not None
    assert "Chosen on val" in made.notes
    assert "The split test has too few images for these figures" in made.notes
    assert json.loads((made.folder / "metrics.json").read_text()) == made.metrics
    assert made.metrics is not None
    for split in ("val", "test"):
        for way in ("image_to_sentence", "sentence_to_image"):
            # With two photos each is among the first five, whatever the features.
            assert made.metrics[split][way]["r5"] >= 50


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_done_is_said_in_the_row(folders: Path) -> None:
    (folders / "vectors").mkdir()
    (folders / "vectors" / "broken.txt").write_text("this is no file of vectors\n")
    made = ordered(vectors="broken.txt")
    taken = experiment_take()
    assert taken is not None
    experiment_run(taken)
    made.refresh_from_db()
    assert made.status == ExperimentStatus.FAILED
    assert "broken.txt" in made.error
    assert not [thread for thread in threading.enumerate() if "progress of" in thread.name]


def part_in(folder: Path, number: int) -> PassPart:
    return PassPart(
        store=str(folder),
        kind=FeatureKind("network", "whole", "float16"),
        pairs=str(folder / f"{number}.json"),
        items=1,
        encoder=str(folder / "encoder.npz"),
        made=str(folder / f"{number}.npz"),
    )


def test_parts_of_a_pass_are_left_to_us_where_nobody_serves_the_queue(tmp_path: Path) -> None:
    parts = [part_in(tmp_path, 1), part_in(tmp_path, 2)]
    assert list(pass_share(parts, silent)) == [False, False]


def test_a_broker_that_is_away_serves_nobody(settings: Settings) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    before = current_app.conf.broker_url
    current_app.conf.update(broker_url=settings.REDIS_URL)
    try:
        assert not gpu_is_served()
    finally:
        current_app.conf.update(broker_url=before)


def test_parts_are_awaited_while_new_ones_come_and_no_longer(tmp_path: Path) -> None:
    parts = [part_in(tmp_path, number) for number in range(4)]
    encoder = tmp_path / "encoder.npz"
    encoder.touch()
    os.utime(encoder, (1, 1))
    reports: list[tuple[str, int, int]] = []
    awaited = parts_awaited(parts, lambda *told: reports.append(told), patience=1.5)
    Path(parts[0].made).touch()
    assert next(awaited)
    # Removed, as after adding it up. The third comes while we wait for the second.
    Path(parts[0].made).unlink()
    threading.Timer(1.0, Path(parts[2].made).touch).start()
    threading.Timer(2.0, Path(parts[1].made).touch).start()
    assert next(awaited)
    assert encoder.stat().st_mtime > 1, "it is touched, as a sign that somebody waits"
    Path(parts[1].made).unlink()
    assert next(awaited)
    Path(parts[2].made).unlink()
    assert not next(awaited)
    assert not encoder.exists(), "nobody waits any more"
    assert list(awaited) == []
    assert reports[-1] == ("gathering covariances", 3, 4)


def test_a_part_that_nobody_waits_for_any_more_is_not_made(tmp_path: Path) -> None:
    part_gather(part_in(tmp_path, 1))
    encoder = tmp_path / "encoder.npz"
    encoder.touch()
    assert is_awaited(part_in(tmp_path, 1))
    # The worker that asked for it was killed an hour ago.
    os.utime(encoder, (time.time() - 3600,) * 2)
    part_gather(part_in(tmp_path, 1))
    assert list(tmp_path.iterdir()) == [encoder]


def test_folders_of_killed_passes_go_after_a_day(tmp_path: Path) -> None:
    for name, days in (("pass-old", 2), ("pass-new", 0), ("shards", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        os.utime(tmp_path / name, (time.time() - days * 24 * 3600,) * 2)
    tidy_folders(tmp_path, "pass-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pass-new", "shards"]


@contextmanager
def gpu_worker(folder: Path, number: int, settings: dict[str, str]) -> Iterator[Path]:
    log = folder / f"worker-{number}.log"
    with log.open("wb") as output:
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "celery", "--app=config", "worker", "--loglevel=INFO"),
                *("--pool=solo", "--queues=gpu", f"--hostname=gpu-{os.getpid()}-{number}@%h"),
                # One shard at a time: the other gets the next.
                *("--prefetch-multiplier=1", "--without-gossip", "--without-mingle"),
            ],
            env=settings,
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(lambda: "ready." in log.read_text(), "the worker")
        yield log
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.slow
def test_two_celery_workers_give_the_same_as_one_process(tmp_path: Path, redis_url: str) -> None:
    def order(store: str) -> Order:
        return Order(
            recipe="image_sentence",
            release=str(DEMO),
            images=str(DEMO / "photos"),
            store=str(tmp_path / store),
            vectors="captions",
            settings={"ridges": [1.0], "powers": [1.0], "components": 2},
            network=Network(crops="centre", threads=1, shard_items=2),
            part_items=2,
        )

    by_one = run_order(order("alone")).result
    settings = environment(CHAINBOX_VAR=str(tmp_path / "var"), REDIS_URL=redis_url)
    with gpu_worker(tmp_path, 1, settings) as one, gpu_worker(tmp_path, 2, settings) as other:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.grounding.shared_run"),
                msgspec.json.encode(order("shared")).decode(),
            ],
            env=settings,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        shards, parts = (
            [len(re.findall(f"{task}.* succeeded", log.read_text())) for log in (one, other)]
            for task in ("grounding_extract", "grounding_gather")
        )
    *told, found = done.stdout.splitlines()
    assert told == ["0 of 5 left", *["part of 2 images made"] * 3], "the workers did it all"
    assert (sum(shards), sum(parts)) == (5, 3)
    assert all(shards), "and both of them"
    assert all(parts), "the pass, too"
    assert json.loads(found) == pytest.approx(by_one.space.correlations.tolist(), abs=1e-6)
    assert not list((tmp_path / "shared").glob("pass-*"))
    alone, shared = contents(tmp_path / "alone"), contents(tmp_path / "shared")
    assert alone == shared
    assert len([name for name in alone if "/shards/" in name]) == 5


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_an_experiment_that_meets_a_full_disk_says_so(folders: Path, settings: Settings) -> None:
    with small_disk(folders / "disk") as disk:
        settings.CHAINBOX_FEATURES = disk.contents
        disk.fill()
        made = ordered()
        grounding_work()
        made.refresh_from_db()
        assert made.status == ExperimentStatus.FAILED
        assert made.error.startswith(f"{disk.contents}/photos.json: the disk is full. Free some")
