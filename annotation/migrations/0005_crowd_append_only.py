"""Trust events and payments are append-only; open questions learn what they need to know."""

from django.db import migrations

from annotation.models.append_only import CROWD, protect, release
from annotation.models.rows import workers_text
from annotation.pipeline.protocol.independence import kept_out
from annotation.pipeline.protocol.progress import work_left
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.protocol.state import decode_state


def forwards(apps, schema_editor):
    protect(schema_editor, CROWD)
    stored_states = apps.get_model("annotation", "StoredState").objects
    questions = apps.get_model("annotation", "OpenQuestion").objects
    waiting = stored_states.filter(image__open_questions__isnull=False).distinct()
    for stored in waiting.iterator(chunk_size=200):
        state = decode_state(stored.body)
        rows = list(questions.filter(image_id=stored.image_id))
        for row in rows:
            row.left = work_left(state)
            row.kept_out = workers_text(kept_out(state, question_from_key(row.key)))
        questions.bulk_update(rows, ["left", "kept_out"])


def backwards(apps, schema_editor):
    release(schema_editor, CROWD)


class Migration(migrations.Migration):
    # PostgreSQL alters no table that has row changes waiting in the same transaction.
    atomic = False
    dependencies = [("annotation", "0004_crowd")]
    operations = [migrations.RunPython(forwards, backwards)]
