"""Recording judgments, against a bare insert; at 100 and at 30,000 images."""

import os
import tempfile
import time


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CHAINBOX_VAR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        run()


def run() -> None:
    from django.db import connection, transaction
    from django.test.utils import CaptureQueriesContext

    from annotation.actions.crowd.workers import workers_simulated
    from annotation.actions.protocol.facts import judgments_record
    from annotation.models import Campaign
    from annotation.simulation.crowd import TYPICAL, Crowd
    from annotation.simulation.run import answer_key
    from annotation.simulation.work import next_judgments
    from tests.corpora import campaign_with_images, image_of

    crowd = Crowd(workers_simulated(count=30), TYPICAL, 1)

    def work(campaign: Campaign, number: int) -> int:
        """Work on one image until it is finished, one judgment at a time; return their number."""
        image = image_of(campaign, number)
        key, state = answer_key(image), image.stored_state.state
        judgments = 0
        while batch := list(next_judgments(state, key, crowd, image.name)):
            for judgment in batch:
                state = judgments_record(image_id=image.pk, judgments=[judgment]).state
            judgments += len(batch)
        return judgments

    for size in (100, 30_000):
        campaign = campaign_with_images(size, name=f"{size}")
        with CaptureQueriesContext(connection) as queries:
            judgments = work(campaign, 0)
        statements = len(queries) / judgments
        before = time.perf_counter()
        judgments = sum(work(campaign, number) for number in range(1, 60))
        seconds = time.perf_counter() - before
        with connection.cursor() as cursor:
            cursor.execute(f'CREATE TABLE "bare_{size}" (image int, number int, body text)')
            before = time.perf_counter()
            for number in range(judgments):
                with transaction.atomic():
                    cursor.execute(
                        f'INSERT INTO "bare_{size}" VALUES (%s, %s, %s)', [1, number, "x" * 120]
                    )
            bare = time.perf_counter() - before
        print(
            f"{size:>6,} images: {1000 * seconds / judgments:.2f} ms a judgment, "
            f"{statements:.2f} statements on average; × bare insert {seconds / bare:.1f}"
        )


if __name__ == "__main__":
    main()
