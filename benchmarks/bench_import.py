"""Importing the public captions: twice the images must take about twice the time."""

import tempfile
from pathlib import Path

from annotation.pipeline.release.folder import image_ids, read_sentences
from benchmarks.measure import Measured, manage, public_dataset

SIZES = (10_000, 20_000)
LIMIT_RATIO = 2.2
LIMIT_MEGABYTES = 1024


def main() -> None:
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        dataset = public_dataset(Path(folder))
        names = image_ids(dataset)
        for size in SIZES:
            tokens = Path(folder) / f"{size}.token"
            with tokens.open("w", encoding="utf-8") as stream:
                for name in names[:size]:
                    for number, sentence in enumerate(read_sentences(dataset, name)):
                        stream.write(f"{name}.jpg#{number}\t{' '.join(sentence.tokens)}\n")
            var = Path(folder) / f"var-{size}"
            manage("migrate", "--verbosity", "0", var=var)
            run = manage("corpus_import", str(tokens), "--campaign", "bench", var=var)
            print(
                f"{size:,} images  {run.seconds:6.1f} s  {size / run.seconds:6.0f} images/s"
                f"  {run.megabytes:5.0f} MB ({run.megabytes / LIMIT_MEGABYTES:.0%} of the limit)"
            )
            measured.append(run)
    ratio = measured[1].seconds / measured[0].seconds
    print(f"20k / 10k: {ratio:.2f} (limit {LIMIT_RATIO})")


if __name__ == "__main__":
    main()
