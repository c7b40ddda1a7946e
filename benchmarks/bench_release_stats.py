"""release_stats on the public dataset, against its limits and against just reading the files."""

import tempfile
import time
from pathlib import Path

from benchmarks.measure import manage, public_dataset

LIMIT_SECONDS = 60
LIMIT_MEGABYTES = 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        dataset = public_dataset(Path(folder))
        before = time.perf_counter()
        for part in ("Sentences", "Annotations"):
            for path in (dataset / part).iterdir():
                path.read_bytes()
        reading = time.perf_counter() - before
        stats = manage("release_stats", str(dataset), var=Path(folder) / "var")
    print(f"reading all files alone        {reading:7.1f} s")
    print(f"release_stats                  {stats.seconds:7.1f} s   {stats.megabytes:6.0f} MB")
    print(f"  × reading alone              {stats.seconds / reading:7.1f}")
    print(f"  share of {LIMIT_SECONDS} s               {stats.seconds / LIMIT_SECONDS:7.1%}")
    print(f"  share of {LIMIT_MEGABYTES} MB            {stats.megabytes / LIMIT_MEGABYTES:7.1%}")


if __name__ == "__main__":
    main()
