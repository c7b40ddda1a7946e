"""The public dataset through the database: accepted, reviewed, released.

Every fifth image of it: that each file is written as it was read is seen by `test_public_release`.
"""

import io
import shutil
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.actions.protocol.facts import decision_record
from annotation.models import Image
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import BoxAdjust
from annotation.pipeline.release.folder import image_ids, read_splits, write_splits

FOLDERS = ("Sentences", "Annotations")
MOVED = "1000092795"


def without_last_newline(path: Path) -> bytes:
    return path.read_bytes().removesuffix(b"\n")


@pytest.fixture
def fifth(public_dataset: Path, tmp_path: Path) -> Path:
    """Every fifth image of the public dataset, and the one that a reviewer will change."""
    folder = tmp_path / "fifth"
    names = {*image_ids(public_dataset)[::5], MOVED}
    for kind, ending in (("Sentences", "txt"), ("Annotations", "xml")):
        (folder / kind).mkdir(parents=True)
        for name in names:
            file = f"{kind}/{name}.{ending}"
            shutil.copy(public_dataset / file, folder / file)
    splits = {
        split: [name for name in of if name in names]
        for split, of in read_splits(public_dataset).items()
    }
    write_splits(folder, splits)
    shutil.copy(public_dataset / "UNRELATED_CAPTIONS", folder)
    return folder


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.once
@pytest.mark.django_db
def test_import_and_release_give_every_byte_back(fifth: Path, tmp_path: Path) -> None:
    quiet = io.StringIO()
    call_command("corpus_import", fifth, campaign="public", accept=True, stdout=quiet)
    image = Image.objects.select_related("stored_state").get(name=MOVED)
    box = image.stored_state.state.boxes[3]
    decision_record(
        image_id=image.pk,
        decision=BoxAdjust(reviewer=1, box=box.number, rect=Rect(190, 110, 261, 373)),
    )
    out = tmp_path / "release"
    call_command("release_build", campaign="public", out=out, stdout=quiet)
    assert image_ids(out) == image_ids(fifth)
    differing = [
        f"{folder}/{path.name}"
        for folder in FOLDERS
        for path in sorted((fifth / folder).iterdir())
        if without_last_newline(path) != without_last_newline(out / folder / path.name)
    ]
    assert differing == [f"Annotations/{MOVED}.xml"]
    before = (fifth / differing[0]).read_text().splitlines()
    after = (out / differing[0]).read_text().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [("\t\t\t<xmin>197</xmin>", "\t\t\t<xmin>190</xmin>")]
    for folder in FOLDERS:
        assert len(list((out / folder).iterdir())) == len(list((fifth / folder).iterdir()))
