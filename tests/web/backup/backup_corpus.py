"""What the tests of backups run in processes of their own, on a database of their own.

python -m tests.web.backup.backup_corpus make
python -m tests.web.backup.backup_corpus backup_while_writing FILE
"""

import os
import sys
import tempfile
from pathlib import Path
from threading import Thread

import django


def make() -> None:
    """Fill an empty database with a little of everything."""
    from django.contrib.auth.models import Group, Permission, User
    from PIL import Image as Pillow

    from annotation import models
    from annotation.actions.campaign.campaigns import campaign_create, campaign_settings_change
    from annotation.actions.corpus.images import image_withdraw
    from annotation.actions.corpus.imports import ImageToImport, Take, images_import
    from annotation.pipeline.captions import Caption
    from annotation.pipeline.corpus.corpus_image import CorpusImage
    from annotation.pipeline.corpus.pictures import read_picture
    from annotation.pipeline.mentions.mention import Mention, MentionFinder

    campaign = campaign_create(name="Pets – größer")
    captions = (
        Caption(number=1, tokens=("A", "dog", "chases", "a", "cat")),
        Caption(number=2, tokens=("Zwei", "Tiere", "🐕", '"', "\\")),
    )
    mentions = (
        Mention(number=1, caption=1, start=0, end=2, types=("animals",)),
        Mention(number=2, caption=1, start=3, end=5, types=("animals",)),
        Mention(number=3, caption=2, start=0, end=2, types=("animals", "other")),
    )
    with tempfile.TemporaryDirectory() as folder:
        batch = []
        # The first two have the same photo, the last has none.
        for name, colour in (("1", "red"), ("2", "red"), ("3", "blue"), ("4", "")):
            photo = Path(folder) / f"{name}.png"
            if colour:
                Pillow.new("RGB", (40, 30), colour).save(photo)
            image = CorpusImage(
                name=name, filename=f"{name}.png", captions=captions, mentions=mentions, width=40,
                height=30,
            )  # fmt: skip
            picture = read_picture(photo) if colour else None
            batch.append(ImageToImport(image=image, picture=picture))
        images_import(
            campaign=campaign, batch=batch, take=Take.NOTHING, finder=MentionFinder.load()
        )
    workers = [models.Worker.objects.create(name=f"worker {n}") for n in range(4)]
    for row in models.Image.objects.order_by("name"):
        judge(row.pk, [worker.pk for worker in workers])
        if row.name == "1":
            campaign_settings_change(campaign=campaign, coverage_votes=3)
    image_withdraw(image=models.Image.objects.get(name="3"), reason="asked for")
    models.Worker.objects.filter(pk=workers[0].pk).update(name="")

    group = Group.objects.create(name="reviewers")
    group.permissions.add(Permission.objects.get(codename="change_image"))
    user = User.objects.create_user("ada", "ada@example.org", "a long password")
    user.groups.add(group)
    user.user_permissions.add(Permission.objects.get(codename="view_fact"))
    # The last number given out is that of an account that is no more.
    User.objects.create_user("gone", password="a long password").delete()


def judge(image_id: int, workers: list[int]) -> None:
    """Answer some questions about an image, so that all state tables have rows."""
    from annotation import models
    from annotation.actions.protocol.facts import judgments_record
    from annotation.pipeline.engine import open_questions
    from annotation.pipeline.geometry import Rect
    from annotation.pipeline.protocol.facts import Judgment
    from annotation.pipeline.protocol.questions import Stage
    from annotation.pipeline.protocol.stage_spec import spec_of

    asked: dict[str, int] = {}
    for _ in range(12):
        questions = open_questions(models.StoredState.objects.get(pk=image_id).state)
        questions = [q for q in questions if asked.get(q.key, 0) < len(workers)]
        if not questions:
            break
        question = questions[0]
        worker = workers[asked.get(question.key, 0)]
        asked[question.key] = asked.get(question.key, 0) + 1
        rect = Rect(xmin=2, ymin=3, xmax=20, ymax=21) if question.stage is Stage.DRAWING else None
        answer = spec_of(question.stage).answers[0]
        judgment = Judgment(worker=worker, question=question, answer=answer, rect=rect)
        judgments_record(image_id=image_id, judgments=[judgment])


def backup_while_writing(file: str) -> None:
    """Back up; once rows are being read, let somebody else write, and wait for that."""
    from django.db import connection

    from annotation.actions.backup.archive import backup_write
    from annotation.models import Worker

    done: list[int] = []

    def write() -> None:
        done.append(Worker.objects.create(name="late").pk)
        connection.close()

    def step(count: int) -> None:
        if not done:
            thread = Thread(target=write)
            thread.start()
            thread.join(timeout=20)
            assert done, "a writer had to wait for the backup"

    backup_write(path=Path(file), step=step)
    assert Worker.objects.filter(name="late").exists()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    if sys.argv[1] == "make":
        make()
    else:
        backup_while_writing(sys.argv[2])
