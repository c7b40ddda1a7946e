"""docs/embeddings.md says what the code does: options, defaults, names."""

import re

from grounding.__main__ import build_parser
from grounding.pipeline.embedding import cca, covariances
from grounding.pipeline.evaluation import distances
from grounding.pipeline.text import pairs
from grounding.pipeline.text.features import CENTRES
from grounding.pipeline.text.word_vectors_training import DIMENSIONS
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "embeddings.md").read_text(encoding="utf-8")


def test_the_command_and_its_options_are_there() -> None:
    command = re.search(r"python -m grounding (run image_sentence[^`]*?)\n```", PAGE)
    assert command is not None
    options = build_parser().parse_args(command[1].replace("\\\n", " ").split())
    for name in re.findall(r"`--([a-z]+)", PAGE):
        assert name in vars(options), f"run has no --{name}"


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"A mixture of {CENTRES} Gaussians" in PAGE
    assert f"vectors of {DIMENSIONS} dimensions trained" in PAGE
    assert f"products of {covariances.BLOCK:,} rows" in PAGE
    assert f"γ = {distances.GAMMA}" in PAGE
    assert f"α = {distances.ALPHA}" in PAGE
    assert f"within {distances.MEMORY // 1024**2} MB" in PAGE


def test_the_names_are_those_of_the_code() -> None:
    for module, names in (
        (covariances, ("CovarianceSum", "Covariances", "gather")),
        (cca, ("fit",)),
        (pairs, ("resample",)),
    ):
        for name in names:
            assert hasattr(module, name)
            assert f"{name}(" in PAGE or f"`{name}`" in PAGE
