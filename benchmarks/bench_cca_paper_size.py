"""CCA at the paper's size: 148,915 pairs of 4096 + 9000 numbers, mapped from disk.

Prints the time and the highest anonymous memory (RssAnon: without pages of mapped files, which the
system can drop). Needs 4 GB in the temporary folder for random features, which are removed at the
end. Takes about ten minutes on two cores; `--pairs N` uses fewer pairs.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from grounding.pipeline.embedding.cca import fit
from grounding.pipeline.embedding.covariances import BLOCK, CovarianceSum

PAIRS, IMAGE, TEXT = 148_915, 4096, 9000
COMPONENTS = 1024
RIDGE = 0.1
LIMIT_GB = 8
FILES = {"images.npy": IMAGE, "texts.npy": TEXT}

Mapped = NDArray[numpy.float16]


class PeakMemory:
    """Watches this process's anonymous memory, ten times a second."""

    def __init__(self) -> None:
        self.gigabytes = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    self.gigabytes = max(self.gigabytes, int(line.split()[1]) / 1024**2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        x, y = (made_up(Path(folder) / name, pairs, size) for name, size in FILES.items())
        print(f"generated {pairs:,} pairs of {IMAGE} + {TEXT} numbers, float16", flush=True)
        print(f"{'generating them':<32}{time.perf_counter() - start:8.0f} s", flush=True)
        with PeakMemory() as memory:
            start = time.perf_counter()
            total = CovarianceSum()
            for rows in blocks(pairs):
                total.add(x[rows], y[rows])
            covariances = total.result()
            passed = time.perf_counter() - start
            flops = pairs * (IMAGE**2 + TEXT**2 + 2 * IMAGE * TEXT)
            print(
                f"{'covariances':<32}{passed:8.0f} s   {flops / passed / 1e9:.0f} GFLOP/s",
                flush=True,
            )
            start = time.perf_counter()
            space = fit(covariances, ridge_x=RIDGE, ridge_y=RIDGE, components=COMPONENTS)
            fitted = time.perf_counter() - start
        print(f"{f'fitting {COMPONENTS} components':<32}{fitted:8.0f} s")
        print(f"{'total':<32}{passed + fitted:8.0f} s")
        peak = memory.gigabytes
        print(f"{'highest anonymous memory':<32}{peak:8.2f} GB  {peak / LIMIT_GB:.2f} of the limit")
        print(f"first correlations: {', '.join(f'{rho:.4f}' for rho in space.correlations[:5])}")


def made_up(path: Path, pairs: int, size: int) -> Mapped:
    """Write features that share 64 hidden causes with those of the other side, and map the file."""
    mix = numpy.random.default_rng(size).standard_normal((64, size), dtype=numpy.float32)
    noise = numpy.random.default_rng(size + 1)
    hidden = numpy.random.default_rng(0)
    made: Any = numpy.lib.format.open_memmap(
        path, mode="w+", dtype=numpy.float16, shape=(pairs, size)
    )
    for rows in blocks(pairs):
        count = rows.stop - rows.start
        block = hidden.standard_normal((count, 64), dtype=numpy.float32) @ mix
        block += 8 * noise.standard_normal((count, size), dtype=numpy.float32)
        made[rows] = block
    del made
    mapped: Mapped = numpy.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def blocks(pairs: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, pairs)) for start in range(0, pairs, BLOCK))


if __name__ == "__main__":
    main()
