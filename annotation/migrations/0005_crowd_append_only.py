"""Trust events and payments are append-only; open questions learn how much their image needs."""

from django.db import migrations

from annotation.models.append_only import CROWD, protect, release
from annotation.pipeline.progress import work_left
from annotation.pipeline.state import decode_state


def forwards(apps, schema_editor):
    protect(schema_editor, CROWD)
    stored_states = apps.get_model("annotation", "StoredState").objects
    questions = apps.get_model("annotation", "OpenQuestion").objects
    waiting = stored_states.filter(image__open_questions__isnull=False).distinct()
    for stored in waiting.iterator(chunk_size=200):
        left = work_left(decode_state(stored.body))
        questions.filter(image_id=stored.image_id).update(left=left)


def backwards(apps, schema_editor):
    release(schema_editor, CROWD)


class Migration(migrations.Migration):
    # PostgreSQL alters no table that has row changes waiting in the same transaction.
    atomic = False
    dependencies = [("annotation", "0004_crowd")]
    operations = [migrations.RunPython(forwards, backwards)]
