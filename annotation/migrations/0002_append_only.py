"""The database itself refuses to change or delete a fact."""

from django.db import migrations

from annotation.models.append_only import FOUNDATION, protect, release


def forwards(apps, schema_editor):
    protect(schema_editor, FOUNDATION)


def backwards(apps, schema_editor):
    release(schema_editor, FOUNDATION)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunPython(forwards, backwards)]
