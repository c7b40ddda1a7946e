"""The engine on the public val images: a fold, against decoding and encoding the same states."""

import tempfile
import time
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import (
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.engine import apply, begin
from annotation.pipeline.protocol.facts import Fact
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import decode_state, encode_state
from annotation.pipeline.release.folder import image_ids, read_image
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import TYPICAL, Crowd
from annotation.simulation.report import SimulationReport
from annotation.simulation.work import work_in_memory
from benchmarks.measure import public_dataset


def main() -> None:
    settings, report = Settings(), SimulationReport()
    crowd = Crowd(list(range(1, 31)), TYPICAL, 0)
    folding = coding = 0.0
    facts = 0
    with tempfile.TemporaryDirectory() as folder:
        dataset = public_dataset(Path(folder))
        for name in image_ids(dataset, "val"):
            image = read_image(dataset, name)
            key = AnswerKey(annotation_of(image))
            start = begin(
                captions_of(image.sentences),
                mentions_of_sentences(image.sentences),
                width=image.width,
                height=image.height,
                settings=settings,
            )
            end, given = work_in_memory(start, key, crowd, name, settings)
            report.add(end, key, [judgment.question.stage for judgment in given], settings)
            before = time.perf_counter()
            state = start
            for number, judgment in enumerate(given, start=1):
                state = apply(state, Fact(number=number, settings=settings, body=judgment))
            folding += time.perf_counter() - before
            before = time.perf_counter()
            for _ in given:
                decode_state(encode_state(state))
            coding += time.perf_counter() - before
            facts += len(given)
    print(report.render())
    print(f"{1e6 * folding / facts:.0f} µs to apply a judgment")
    print(f"  × decoding and encoding the state {folding / coding:.1f}")


if __name__ == "__main__":
    main()
