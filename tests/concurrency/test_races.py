"""Many writers at one image: each judgment once, in one unbroken sequence."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import judgments_record
from annotation.models import Fact, Image, OpenQuestion
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.questions import YES, question_from_key
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from tests.corpora import campaign_with_images, image_of

THREADS = 12


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_racing_judgments_count_once_and_number_without_gaps() -> None:
    image = image_of(campaign_with_images(1))
    workers = workers_simulated(count=THREADS)
    question = question_from_key(OpenQuestion.objects.filter(image=image).order_by("pk")[0].key)
    start = Barrier(THREADS)

    def judge(worker: int) -> None:
        judgment = Judgment(worker=worker, question=question, answer=YES)
        try:
            start.wait()
            # Twice each: a browser that retries must not give two judgments.
            judgments_record(image_id=image.pk, judgments=[judgment])
            judgments_record(image_id=image.pk, judgments=[judgment])
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(judge, workers))
    facts = Fact.objects.filter(image=image).order_by("number")
    assert list(facts.values_list("number", flat=True)) == list(range(1, THREADS + 1))
    assert {fact.worker_id for fact in facts} == set(workers)
    assert [fact.counted for fact in facts].count(True) == 1
    settings = settings_by_id()
    for checked in images_with_facts(Image.objects.all()):
        assert image_differences(checked, settings) == []
