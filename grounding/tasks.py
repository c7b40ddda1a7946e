"""What Celery runs of the experiments. The table and the store say what is left to do.

`grounding_work` takes an experiment up and sees it through. If workers serve a queue named `gpu`,
whatever their hardware, it has them extract the features, shard by shard, and make the pass over
the training pairs, part by part; what they leave undone it does itself. So a lost message or a
worker that dies costs time, and nothing else.
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

if TYPE_CHECKING:
    from grounding.experiment import Figures, Order
    from grounding.passes import PassPart
    from grounding.pipeline.store.features import FeatureStore
    from grounding.pipeline.store.plans import Shard
    from grounding.pipeline.vision.backbones import Backbone

log = logging.getLogger(__name__)

GPU = "gpu"
# How often a page can learn how far an experiment is, and how often a sign of life is due.
TELL_SECONDS, BEAT_SECONDS = 1.0, 15.0
# How long workers have to say which queues they serve.
ASK_SECONDS = 1
# If those who were asked to extract make nothing for this long, we do it ourselves.
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.5
# What a broker that is away makes of a call: what nobody can be told of, we do ourselves.
BROKER_ERRORS = (OperationalError, OSError)
# Where chance alone has so much recall, in percent, there is little left to measure.
FEW_BY_CHANCE = 50


@shared_task(name="grounding_work")
def grounding_work() -> None:
    """Do the experiments that wait, one after the other."""
    while (experiment := experiment_take()) is not None:
        experiment_run(experiment)


@shared_task(name="grounding_extract")
def grounding_extract(order: str, shard: str) -> None:
    """Make one shard of features, unless it is there or somebody is at it."""
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
    """Make one part of the pass over the training pairs."""
    from grounding.passes import PassPart, part_gather

    part_gather(msgspec.json.decode(part, type=PassPart))


def experiment_run(experiment: Experiment) -> None:
    """See an experiment through that was taken up; whatever goes wrong is noted in its row."""
    from grounding.experiment import metrics_of, run_order, write_figures

    try:
        with _told(experiment) as report:
            order = _order(experiment)
            figures = run_order(
                order,
                report=report,
                share=lambda shards: shards_share(order, shards, report),
                share_pass=lambda parts: pass_share(parts, report),
            )
            write_figures(experiment.folder, figures)
        notes = "\n".join(_notes(figures))
        experiment_finish(experiment=experiment, metrics=metrics_of(figures.result), notes=notes)
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
            _fail(experiment, f"Something unforeseen: {error!r}. The worker's log says where.")


def _notes(figures: "Figures") -> Iterator[str]:
    """Say how sure the figures are, and how they came about."""
    result = figures.result
    for name, scores in (("val", result.val), ("test", result.test)):
        if scores is not None:
            there = scores.image_to_sentence_intervals["r10"]
            back = scores.sentence_to_image_intervals["r10"]
            yield (
                f"R@10 on {name}, with 95% certainty: image to sentence {there.low:.1f} to "
                f"{there.high:.1f} (by chance {scores.image_to_sentence_chance.r10:.1f}), sentence "
                f"to image {back.low:.1f} to {back.high:.1f} (by chance "
                f"{scores.sentence_to_image_chance.r10:.1f})."
            )
            if scores.sentence_to_image_chance.r10 >= FEW_BY_CHANCE:
                yield f"So few images are in {name} that these figures say next to nothing."
    chosen = result.chosen
    yield (
        f"Chosen on val: ridge {chosen.ridge_x:g} of images, {chosen.ridge_y:g} of captions, "
        f"power {chosen.power:g}."
    )
    missing = 100 * result.coverage.missing_share
    yield f"{missing:.2f}% of the words in the training captions have no vector."
    if figures.left_out:
        yield f"{figures.left_out:,} images were left out: they have no usable photo."


def _fail(experiment: Experiment, error: str) -> None:
    try:
        experiment_fail(experiment=experiment, error=error)
    except AbandonedError:
        log.warning("%s was taken up by somebody else", experiment)


def _order(experiment: Experiment) -> "Order":
    from grounding.experiment import Network, Order

    release = release_find(experiment.release)
    if release is None:
        raise GroundingError(f"the release {experiment.release!r} is no longer there")
    return Order(
        recipe=experiment.recipe,
        release=str(release.folder),
        images=str(release.photos),
        store=str(settings.CHAINBOX_FEATURES),
        vectors=vectors_path(experiment.vectors),
        network=Network(backbone=experiment.backbone),
    )


@contextmanager
def _told(experiment: Experiment) -> Iterator[Report]:
    """Yield what notes progress; a thread writes it down, and gives signs of life in long steps."""
    latest = ("Starting", 0, 0)
    is_over = threading.Event()
    is_abandoned = threading.Event()

    def report(what: str, done: int, total: int) -> None:
        nonlocal latest
        if is_abandoned.is_set():
            raise AbandonedError(f"{experiment} was taken up by somebody else")
        latest = (what, done, total)

    def tell() -> None:
        written, at = latest, time.monotonic()
        try:
            while not is_over.wait(TELL_SECONDS):
                now = time.monotonic()
                if latest == written and now - at <= BEAT_SECONDS:
                    continue
                step, done, total = now_at = latest
                try:
                    experiment_progress(
                        experiment=experiment, step=step.capitalize(), done=done, total=total
                    )
                except Error:
                    # It may be back before anybody takes us for dead.
                    log.warning("%s: its progress could not be noted", experiment, exc_info=True)
                    connection.close()
                else:
                    written, at = now_at, now
        except AbandonedError:
            is_abandoned.set()
        finally:
            connection.close()

    thread = threading.Thread(target=tell, name=f"telling of {experiment}", daemon=True)
    thread.start()
    try:
        yield report
    finally:
        is_over.set()
        thread.join()


def shards_share(order: "Order", shards: Sequence["Shard"], report: Report) -> None:
    """Have those who serve the queue make the shards, and wait for them while they do."""
    if not gpu_is_served():
        return
    text = msgspec.json.encode(order).decode()
    try:
        for shard in shards:
            grounding_extract.apply_async(
                (text, msgspec.json.encode(shard).decode()), queue=GPU, retry=False
            )
    except BROKER_ERRORS as error:
        log.warning("extraction is not shared: %s", error)
        return
    _, store = _network(text)
    total = sum(shard.items for shard in shards)
    left, since = list(shards), time.monotonic()
    while left and time.monotonic() - since < PATIENCE_SECONDS:
        time.sleep(LOOK_SECONDS)
        still = [shard for shard in left if not store.shard_path(shard.name).exists()]
        if len(still) < len(left):
            left, since = still, time.monotonic()
        report("extracting features", total - sum(shard.items for shard in left), total)


def pass_share(parts: Sequence["PassPart"], report: Report) -> Iterator[bool]:
    """Have those who serve the queue make the parts of a pass; yield whether each is made.

    The parts are taken up in their order, so that few of them lie on the disk at a time.
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
        log.warning("the pass is not shared: %s", error)
        return False
    return True


def parts_awaited(
    parts: Sequence["PassPart"], report: Report, patience: float = PATIENCE_SECONDS
) -> Iterator[bool]:
    """Yield for part after part whether it is made; wait for it while new ones come.

    When patience ends, those who are still at work are told by taking the encoder away.
    """
    encoder = Path(parts[0].encoder)
    files = [Path(part.made) for part in parts]
    total, done = sum(len(part.images) for part in parts), 0
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
        # Whoever takes a part up removes it: only new ones are a sign that somebody is at work.
        there -= is_made
        done += len(part.images)


def gpu_is_served() -> bool:
    """Ask the workers whether any of them serves the queue; without Redis nobody can be asked."""
    if not settings.REDIS_URL:
        return False
    try:
        with current_app.connection_for_write() as connected:
            connected.ensure_connection(max_retries=1, timeout=ASK_SECONDS)
            asked = current_app.control.inspect(timeout=ASK_SECONDS, connection=connected)
            replies = asked.active_queues() or {}
    except BROKER_ERRORS as error:
        log.warning("nobody could be asked who serves the queue %s: %s", GPU, error)
        return False
    return any(queue["name"] == GPU for queues in replies.values() for queue in queues)


@lru_cache(maxsize=1)
def _network(order: str) -> "tuple[Backbone, FeatureStore]":
    """Load the network of an order once for all its shards."""
    from grounding.experiment import Order, network_of

    return network_of(msgspec.json.decode(order, type=Order))
