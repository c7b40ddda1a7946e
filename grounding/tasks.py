"""The Celery tasks of the experiments. The table and the store record what is left to do.

`grounding_work` takes up an experiment and runs it to its end. If workers serve a queue named
`gpu`, whatever their hardware, they extract the features, shard by shard, and gather the training
pairs, part by part. It does the rest itself, so a lost message or a dead worker only costs time.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from celery import current_app, shared_task
from django.conf import settings
from django.db import Error, connection
from kombu.exceptions import OperationalError

from common.files.trouble import disk_trouble
from grounding.actions import (
    AbandonedError,
    experiment_fail,
    experiment_finish,
    experiment_progress,
    experiment_take,
)
from grounding.library import release_find, vectors_path
from grounding.models import Experiment
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.progress import Report
from grounding.stages import EXTRACTING

if TYPE_CHECKING:
    from grounding.experiment import Order
    from grounding.passes import PassPart
    from grounding.pipeline.store.features import FeatureStore
    from grounding.pipeline.store.plans import Shard
    from grounding.pipeline.vision.backbones import Backbone

log = logging.getLogger(__name__)

GPU = "gpu"
# Seconds between two reports of progress, and between two signs of life.
REPORT_SECONDS, BEAT_SECONDS = 1.0, 15.0
# How long we wait for workers to answer which queues they serve.
ASK_SECONDS = 1
# If the helpers finish nothing for this long, we do the work ourselves.
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.5
# What a call raises while the broker is down. Then we do the work ourselves.
BROKER_ERRORS = (OperationalError, OSError)


@shared_task(name="grounding_work")
def grounding_work() -> None:
    """Run the waiting experiments, one after the other."""
    while (experiment := experiment_take()) is not None:
        experiment_run(experiment)


@shared_task(name="grounding_extract")
def grounding_extract(order: str, shard: str) -> None:
    """Extract one shard of features, unless it exists or another worker is extracting it."""
    # torch takes seconds to import, and most workers never need it.
    from grounding.experiment import Order
    from grounding.pipeline.store.claims import claim
    from grounding.pipeline.store.extraction import available_cores, extract_shard
    from grounding.pipeline.store.plans import Shard

    what = msgspec.json.decode(order, type=Order)
    wanted = msgspec.json.decode(shard, type=Shard)
    backbone, store = _network(order)
    release = claim(store, wanted.name)
    if release is None:
        return
    try:
        threads = what.network.threads or available_cores()
        extract_shard(store, Path(what.images), wanted, backbone, threads=threads)
    finally:
        release()


@shared_task(name="grounding_gather")
def grounding_gather(part: str) -> None:
    """Gather one part of the pass over the training pairs."""
    from grounding.passes import PassPart, part_gather

    part_gather(msgspec.json.decode(part, type=PassPart))


def experiment_run(experiment: Experiment) -> None:
    """Run an experiment that was taken up; any error is saved in its row."""
    from grounding.experiment import run_order, write_figures

    try:
        with _progress(experiment) as report:
            order = _order(experiment)
            figures = run_order(
                order,
                report=report,
                share=lambda shards: shards_share(order, shards, report),
                share_pass=lambda parts: pass_share(parts, report),
            )
            write_figures(experiment.folder, figures)
        notes = "\n".join(figures.notes)
        experiment_finish(experiment=experiment, metrics=figures.metrics, notes=notes)
    except AbandonedError as error:
        log.warning("%s", error)
    except GroundingError as error:
        log.warning("%s has failed: %s", experiment, error)
        _fail(experiment, str(error))
    except Exception as error:
        words = disk_trouble(error)
        if words is None and isinstance(error, OSError | ValueError):
            words = str(error)
        if words is not None:
            log.warning("%s has failed: %s", experiment, words)
            _fail(experiment, words)
        else:
            log.exception("%s has failed", experiment)
            _fail(experiment, f"An unexpected error: {error!r}. See the worker's log for details.")


def _fail(experiment: Experiment, error: str) -> None:
    try:
        experiment_fail(experiment=experiment, error=error)
    except AbandonedError:
        log.warning("%s was taken up by another worker", experiment)


def _order(experiment: Experiment) -> "Order":
    from grounding.experiment import Network, Order

    release = release_find(experiment.release)
    if release is None:
        raise GroundingError(f"the release {experiment.release!r} no longer exists")
    return Order(
        recipe=experiment.recipe,
        release=str(release.folder),
        images=str(release.photos),
        store=str(settings.CHAINBOX_FEATURES),
        vectors=vectors_path(experiment.vectors),
        settings=experiment.settings,
        network=Network(backbone=experiment.backbone),
    )


@contextmanager
def _progress(experiment: Experiment) -> Iterator[Report]:
    """Yield a function that reports progress; a thread saves it, also as a sign of life."""
    latest = ("Starting", 0, 0)
    is_over = threading.Event()
    is_abandoned = threading.Event()

    def report(what: str, done: int, total: int) -> None:
        nonlocal latest
        if is_abandoned.is_set():
            raise AbandonedError(f"{experiment} was taken up by another worker")
        latest = (what, done, total)

    def save() -> None:
        written, at = latest, time.monotonic()
        try:
            while not is_over.wait(REPORT_SECONDS):
                now = time.monotonic()
                if latest == written and now - at <= BEAT_SECONDS:
                    continue
                step, done, total = now_at = latest
                try:
                    experiment_progress(
                        experiment=experiment, step=step.capitalize(), done=done, total=total
                    )
                except Error:
                    # The database may be back before another worker takes us for dead.
                    log.warning("%s: its progress could not be saved", experiment, exc_info=True)
                    connection.close()
                else:
                    written, at = now_at, now
        except AbandonedError:
            is_abandoned.set()
        finally:
            connection.close()

    thread = threading.Thread(target=save, name=f"progress of {experiment}", daemon=True)
    thread.start()
    try:
        yield report
    finally:
        is_over.set()
        thread.join()


def shards_share(order: "Order", shards: Sequence["Shard"], report: Report) -> None:
    """Ask the workers of the queue for the shards, and wait while they extract them."""
    if not gpu_is_served():
        return
    text = msgspec.json.encode(order).decode()
    try:
        for shard in shards:
            grounding_extract.apply_async(
                (text, msgspec.json.encode(shard).decode()), queue=GPU, retry=False
            )
    except BROKER_ERRORS as error:
        log.warning("extraction could not be shared: %s", error)
        return
    _, store = _network(text)
    total = sum(shard.items for shard in shards)
    left, since = list(shards), time.monotonic()
    while left and time.monotonic() - since < PATIENCE_SECONDS:
        time.sleep(LOOK_SECONDS)
        still = [shard for shard in left if not store.shard_path(shard.name).exists()]
        if len(still) < len(left):
            left, since = still, time.monotonic()
        report(EXTRACTING, total - sum(shard.items for shard in left), total)


def pass_share(parts: Sequence["PassPart"], report: Report) -> Iterator[bool]:
    """Ask the workers of the queue for the parts of a pass; yield whether each was gathered.

    Parts are added up in their order, so that only a few are on the disk at a time.
    """
    if not gpu_is_served() or not _sent(parts):
        yield from [False] * len(parts)
        return
    yield from parts_awaited(parts, report)


def _sent(parts: Sequence["PassPart"]) -> bool:
    try:
        for part in parts:
            message = msgspec.json.encode(part).decode()
            grounding_gather.apply_async((message,), queue=GPU, retry=False)
    except BROKER_ERRORS as error:
        log.warning("the pass could not be shared: %s", error)
        return False
    return True


def parts_awaited(
    parts: Sequence["PassPart"], report: Report, patience: float = PATIENCE_SECONDS
) -> Iterator[bool]:
    """Yield for each part whether it was gathered; wait for it while new parts keep arriving.

    When patience ends, the encoder's file is removed: so workers still at it know to stop.
    """
    encoder = Path(parts[0].encoder)
    files = [Path(part.made) for part in parts]
    total, done = sum(part.items for part in parts), 0
    since, there = time.monotonic(), 0
    for part, file in zip(parts, files, strict=True):
        while encoder.exists() and not file.exists():
            encoder.touch()
            report("gathering covariances", done, total)
            count = sum(other.exists() for other in files)
            if count > there:
                since = time.monotonic()
            there = count
            if time.monotonic() - since > patience:
                encoder.unlink()
            time.sleep(LOOK_SECONDS)
        is_made = file.exists()
        yield is_made
        # A part that was added up is removed: only new parts show that workers are at it.
        there -= is_made
        done += part.items


def gpu_is_served() -> bool:
    """Return whether a worker serves the queue. Without Redis we cannot ask, so none does."""
    if not settings.REDIS_URL:
        return False
    try:
        with current_app.connection_for_write() as connected:
            connected.ensure_connection(max_retries=1, timeout=ASK_SECONDS)
            asked = current_app.control.inspect(timeout=ASK_SECONDS, connection=connected)
            replies = asked.active_queues() or {}
    except BROKER_ERRORS as error:
        log.warning("could not ask who serves the queue %s: %s", GPU, error)
        return False
    return any(queue["name"] == GPU for queues in replies.values() for queue in queues)


@lru_cache(maxsize=1)
def _network(order: str) -> "tuple[Backbone, FeatureStore]":
    """Load the network of an order, once for all its shards."""
    from grounding.experiment import Order, network_of

    return network_of(msgspec.json.decode(order, type=Order))
