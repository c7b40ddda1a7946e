"""Numbers that we quote from the paper and its supplement are those of their texts."""

import re

import pytest

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.release import statistics_report
from annotation.pipeline.release.statistics import dataset_statistics
from annotation.pipeline.release.statistics_report import PAPER_TOTAL_ROW, PAPER_TOTALS, PAPER_TYPES
from tests.data.conftest import data_folder

TITLE = "Flickr30k Entities: Collecting Region-to-Phrase Correspondences"
# The paper's names of the stages, and of types whose names are not ours.
STAGES = {
    "Coreference Links": Stage.LINKS,
    "Coreference Verify": Stage.VERIFICATION,
    "Box Requirement": Stage.REQUIREMENT,
    "Box Drawing": Stage.DRAWING,
    "Box Quality": Stage.QUALITY,
    "Box Coverage": Stage.COVERAGE,
}
OURS = {"body parts": "bodyparts"}
PERCENT = r"(\d+\.\d)%"


def _text(is_supplement: bool) -> str:
    """Return the text of the paper or of its supplement, with one space between words."""
    folder = data_folder().parent / "seeds"
    for file in sorted(folder.glob("*.txt")):
        text = file.read_text()
        if text.lstrip().startswith(TITLE) and ("Supplementary" in text[:200]) == is_supplement:
            return re.sub(r"[^\S\t\n]+", " ", text)
    kind = "supplement" if is_supplement else "paper"
    pytest.skip(f"the text of the {kind} is not there: no file in {folder} has its title")


@pytest.fixture(scope="module")
def paper() -> str:
    return _text(is_supplement=False)


@pytest.fixture(scope="module")
def supplement() -> str:
    return _text(is_supplement=True)


def _found(pattern: str, text: str) -> tuple[str, ...]:
    """Return the groups of the pattern's only match."""
    matches = list(re.finditer(pattern, re.sub(r"\s+", " ", text)))
    assert len({match.groups() for match in matches}) == 1, f"{len(matches)} × {pattern}"
    return matches[0].groups()


def _rows(text: str, columns: int) -> dict[str, list[str]]:
    """Return the table rows with so many cells after their name."""
    cells = [[cell.strip() for cell in line.split("\t")] for line in text.splitlines()]
    return {row[0]: row[1:] for row in cells if len(row) == columns + 1}


def _number(cell: str) -> float:
    return float(re.sub(r"[^\d.]", "", cell))


def test_totals_are_those_of_the_paper(paper: str) -> None:
    mentions, captions, per_caption, chains, chains_per_image = _found(
        r"identified ([\d,]+) entity or scene mentions in the ([\d,]+) Flickr30k captions "
        r"\(([\d.]+) per caption\), and these have been linked into ([\d,]+) coreference chains "
        r"\(([\d.]+) per image\)",
        paper,
    )
    boxes, images, boxes_per_image = _found(
        r"yielded ([\d,]+) bounding boxes in the ([\d,]+) images \(([\d.]+) per image\)", paper
    )
    found = {"images": images, "captions": captions, "mentions": mentions}
    found |= {"chains": chains, "boxes": boxes}
    assert {name: int(_number(number)) for name, number in found.items()} == PAPER_TOTALS
    lines = statistics_report.report(dataset_statistics([], unrelated={})).splitlines()
    totals = [line.split()[-1] for line in lines[2 : lines.index("")]]
    (words,) = _found(r"NP chunks are short \(avg\. ([\d.]+) words\)", paper)
    (several,) = _found(rf"{PERCENT} of the chains contain more than a single mention", paper)
    one_box, more_boxes, no_box = _found(
        rf"{PERCENT} of the coreference chains are associated with a single bounding box, "
        rf"{PERCENT} with multiple bounding boxes, and {PERCENT} with no bounding box",
        paper,
    )
    assert totals == [
        *(images, captions, mentions, per_caption, words, chains, chains_per_image),
        *(f"{several}%", f"{one_box}%", f"{more_boxes}%", f"{no_box}%", boxes, boxes_per_image),
    ]


def test_the_types_numbers_are_those_of_table_1(paper: str) -> None:
    rows = {
        OURS.get(name, name): (int(cells[0]), float(cells[1]), float(cells[2]))
        for name, cells in _rows(paper, 3).items()
        if re.fullmatch(r"\d{4,6}", cells[0])
    }
    assert rows.pop("total") == PAPER_TOTAL_ROW
    assert rows == {name: numbers[:3] for name, numbers in PAPER_TYPES.items()}


def test_the_share_of_images_that_mention_a_type_is_the_papers(paper: str) -> None:
    people, animals = _found(
        rf"people are mentioned in {PERCENT} of the images, animals in {PERCENT}", paper
    )
    clothing, bodyparts = _found(rf"clothing and body parts in {PERCENT} and {PERCENT}", paper)
    vehicles, instruments = _found(rf"vehicles and instruments in {PERCENT} and {PERCENT}", paper)
    (other,) = _found(rf"other objects are mentioned in {PERCENT} of the images", paper)
    (scene,) = _found(rf"[Tt]he scene is mentioned in {PERCENT}", paper)
    shares = {
        "people": people,
        "animals": animals,
        "clothing": clothing,
        "bodyparts": bodyparts,
        "vehicles": vehicles,
        "instruments": instruments,
        "other": other,
        "scene": scene,
    }
    assert {name: float(share) for name, share in shares.items()} == {
        name: numbers[3] for name, numbers in PAPER_TYPES.items()
    }


def test_the_stages_numbers_are_those_of_the_supplements_table_1(supplement: str) -> None:
    rows = {STAGES[name]: row for name, row in _rows(supplement, 6).items() if name in STAGES}
    assert set(rows) == set(Stage)
    seconds = {stage: _number(row[0]) for stage, row in rows.items()}
    questions = {stage: int(_number(row[1])) for stage, row in rows.items()}
    minimum = {stage: _number(row[2]) / 100 for stage, row in rows.items()}
    assert {stage: spec_of(stage).seconds_per_hit for stage in Stage} == seconds
    assert Settings().questions_per_hit == questions
    assert Settings().minimum_performance == pytest.approx(minimum)


def test_the_protocols_numbers_are_the_papers(paper: str) -> None:
    settings = Settings()
    (items,) = _found(r"sufficient accuracy on their first (\d+) items", paper)
    (share,) = _found(r"maintain high accuracy on the (\d+)% of items", paper)
    merge, merge_other = _found(
        r"merging boxes with IOU scores of at least ([\d.]+) \(or ([\d.]+) for \"other\"\)", paper
    )
    assert settings.crowd.probation_items == int(items)
    assert settings.crowd.check_share == pytest.approx(int(share) / 100)
    assert (settings.merge_iou, settings.merge_iou_other) == (float(merge), float(merge_other))
