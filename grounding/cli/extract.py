"""`python -m grounding extract`: features of a release's images and regions, into a store."""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotation.pipeline.release.folder import image_ids, read_image
from common.files.whole import write_bytes
from grounding.cli.progress import Progress
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.store.features import DTYPES, FeatureStore
from grounding.pipeline.store.plans import SHARD_ITEMS, Regions, Shard, plan
from grounding.pipeline.text.relation_finders import relation_finder
from grounding.pipeline.vision.photos import Photo, find_photos
from grounding.pipeline.vision.regions import gold_regions, read_boxes

HELP = "extract features of photos and regions"
DESCRIPTION = """\
Extracts features of the photos of a release, and of regions in them, into a store that all
experiments share. Features that the store has are not extracted again, so you may stop the command
at any time and run it again. To share the work, run the same command in several terminals, or on
several machines with the same folders: each process extracts what no other has taken.

  python -m grounding extract --release flickr30k_entities --images photos --store features
  python -m grounding extract --release DIR --images DIR --store DIR --backbone vgg16 \\
      --weights vgg16.safetensors --regions proposals

Name each photo by the id of its image: 36979.jpg. Photos that cannot be used are listed and left
out.
"""
SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    folders = parser.add_argument_group("folders")
    folders.add_argument("--release", type=Path, required=True, help="the release directory")
    folders.add_argument("--images", type=Path, required=True, help="the folder of its photos")
    folders.add_argument("--store", type=Path, required=True, help="where features are kept")
    network = parser.add_argument_group("network")
    network.add_argument(
        "--backbone",
        default="efficientnet-lite0",
        help="efficientnet-lite0 (the default; needs no download), vgg16 as in the paper, or the "
        "name of another torchvision classifier",
    )
    network.add_argument(
        "--weights",
        type=Path,
        help="a .safetensors file or a torch state dict; otherwise torchvision's weights are "
        "downloaded",
    )
    network.add_argument("--device", help="cuda, mps or cpu (default: the first that is available)")
    what = parser.add_argument_group("what to extract")
    what.add_argument(
        "--regions",
        choices=("gold", "proposals", "none"),
        default="gold",
        help="regions beside the whole image: the boxes of the release, and their union if a chain "
        "has several (gold, the default); proposals; or none",
    )
    what.add_argument(
        "--relations",
        choices=("parser", "grammar"),
        help="with gold regions: add those of augmented phrases (“a dog barking at a cat”), whose "
        "relations the parser or the grammar finds",
    )
    what.add_argument(
        "--proposals",
        type=_count,
        default=100,
        metavar="N",
        help="proposals for each image (default: 100)",
    )
    what.add_argument(
        "--boxes",
        type=Path,
        help="a file of your own proposals, .csv with image,x0,y0,x1,y1 or .jsonl (default: "
        "EdgeBoxes)",
    )
    what.add_argument(
        "--edge-model", type=Path, help="OpenCV's structured-edge model, for better EdgeBoxes"
    )
    what.add_argument(
        "--crops",
        choices=("ten", "centre", "whole"),
        default="ten",
        help="the average over four corners and centre and their mirror images (ten, as in the "
        "paper); only the centre; or the whole region at once, ten times as fast",
    )
    what.add_argument(
        "--dtype",
        choices=DTYPES,
        default="float16",
        help="precision of the stored features (default: float16)",
    )
    what.add_argument("--split", choices=("train", "val", "test"), help="only images of this split")
    what.add_argument("--limit", type=_count, metavar="N", help="only the first N images")
    work = parser.add_argument_group("work")
    work.add_argument("--threads", type=_count, metavar="N", help="cores to use (default: all)")
    work.add_argument(
        "--shard-items",
        type=_count,
        default=SHARD_ITEMS,
        metavar="N",
        help=f"features in a file (default: {SHARD_ITEMS}); a worker that is killed loses at most "
        "this many",
    )


def run(options: argparse.Namespace) -> int:
    # torch takes seconds to import, which --help should not.
    from grounding.pipeline.store.extraction import available_cores, extract, open_store
    from grounding.pipeline.vision.backbones import load_backbone

    if options.relations and options.regions != "gold":
        raise GroundingError("--relations adds to the gold regions; omit it, or use --regions gold")
    threads = options.threads or available_cores()
    images = image_ids(options.release, options.split)[: options.limit]
    backbone = load_backbone(options.backbone, options.weights, options.device)
    store = open_store(options.store, backbone, options.crops, options.dtype)
    with Progress("looking at photos", "photos", len(images)) as progress:
        photos, problems = find_photos(
            options.store, options.images, images, threads=threads, progress=progress.add
        )
    regions = _regions(options, photos, threads)
    shards = plan(store, photos, regions, shard_items=options.shard_items)
    with Progress("extracting", "regions", sum(shard.items for shard in shards)) as progress:
        done = extract(
            store, options.images, shards, backbone, threads=threads, progress=progress.add
        )
    unusable = sorted({*store.refused.values(), *done.failed, *problems.values()})
    listing = store.folder / "unreadable.txt"
    content = "".join(f"{line}\n" for line in unusable).encode()
    write_bytes(listing, [content])
    _tell(store, shards, done.features, unusable, listing)
    return 0


def _regions(options: argparse.Namespace, photos: Mapping[str, Photo], threads: int) -> Regions:
    if options.regions == "none":
        return lambda image: ()
    if options.regions == "gold":
        find = relation_finder(options.relations) if options.relations else None
        return lambda image: gold_regions(read_image(options.release, image), find)
    if options.boxes:
        boxes = read_boxes(options.boxes)
        return lambda image: boxes.get(image, [])[: options.proposals]
    return _edge_boxes(options, photos, threads)


def _edge_boxes(options: argparse.Namespace, photos: Mapping[str, Photo], threads: int) -> Regions:
    from grounding.pipeline.vision.proposals import EdgeBoxes, cached_proposals

    method = EdgeBoxes(options.proposals, options.edge_model)
    with Progress("proposing regions", "photos", len(photos)) as progress:
        found = cached_proposals(
            options.store, options.images, photos, method, threads=threads, progress=progress.add
        )

    def regions(image: str) -> NDArray[np.int32]:
        return found[image]

    return regions


def _tell(
    store: FeatureStore, shards: list[Shard], made: int, unusable: list[str], listing: Path
) -> None:
    planned = sum(shard.items for shard in shards)
    print(f"{store.folder}: {len(store):,} features of {store.dimensions} numbers.")
    if not planned:
        print("The store has all these features already.")
    else:
        print(f"{planned:,} were missing; this run extracted {made:,}.")
    if unusable:
        print(f"{len(unusable):,} could not be used (all are listed in {listing}):")
        for line in unusable[:SHOWN]:
            print(f"  {line}")
        if len(unusable) > SHOWN:
            print("  …")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number
