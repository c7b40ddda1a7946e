"""A structured-edge model as OpenCV reads it, small enough to be written here.

Each tree asks one thing, whether the gradient in the middle of a patch is strong, and if it is
draws a line through the patch. No trained forest, but a whole one: it finds the edges of a square.
"""

from collections.abc import Sequence
from pathlib import Path

import cv2

TREES = 8
OPTIONS = {
    "numberOfTrees": TREES,
    "numberOfTreesToEvaluate": 4,
    "selfsimilarityGridSize": 5,
    "stride": 2,
    "shrinkNumber": 2,
    "patchSize": 32,
    "patchInnerSize": 16,
    "numberOfGradientOrientations": 4,
    "gradientSmoothingRadius": 0,
    "regFeatureSmoothingRadius": 2,
    "ssFeatureSmoothingRadius": 8,
    "gradientNormalizationRadius": 4,
}
# Channel 3, the gradient's strength, at (8, 8) of 16 × 16.
STRENGTH = 3 * 256 + 8 * 16 + 8
STRONG = 0.05
# The places of a line in the 16 × 16 middle of a patch.
LINE = [row * 16 + 8 for row in range(16)]


def write_forest(path: Path) -> None:
    """Write the model to a file that ends in .yml or .yml.gz."""
    # Of each tree: the root, its left leaf without a line, its right leaf with one.
    starts = [[number * len(LINE)] * 3 for number in range(TREES)]
    starts[-1].append(TREES * len(LINE))
    file = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    file.startWriteStruct("options", cv2.FILE_NODE_MAP)
    for name, value in OPTIONS.items():
        file.write(name, value)
    file.endWriteStruct()
    _write_trees(file, "childs", [[2, 0, 0]] * TREES)
    _write_trees(file, "featureIds", [[STRENGTH, 0, 0]] * TREES)
    _write_trees(file, "thresholds", [[STRONG, 0.0, 0.0]] * TREES)
    _write_trees(file, "edgeBoundaries", starts)
    _write_trees(file, "edgeBins", [LINE] * TREES)
    file.release()


def _write_trees(
    file: cv2.FileStorage, name: str, trees: Sequence[Sequence[int] | Sequence[float]]
) -> None:
    file.startWriteStruct(name, cv2.FILE_NODE_SEQ)
    for tree in trees:
        file.startWriteStruct("", cv2.FILE_NODE_SEQ + cv2.FILE_NODE_FLOW)
        for value in tree:
            file.write("", value)
        file.endWriteStruct()
    file.endWriteStruct()
