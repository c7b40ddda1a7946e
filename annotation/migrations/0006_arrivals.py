"""Sittings know whether somebody has proven that they accepted the assignment."""

import django.db.models.deletion
from django.db import migrations, models


def forwards(apps, schema_editor):
    # Anybody could open a test under any name: what is not confirmed is nobody's try for good.
    sittings = apps.get_model("annotation", "Sitting").objects
    sittings.filter(kind="test", confirmed_at=None).update(is_proven=False)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_crowd_append_only")]
    operations = [
        migrations.AddField(
            model_name="sitting",
            name="agreed",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.guide",
            ),
        ),
        migrations.AddField(
            model_name="sitting",
            name="accepted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="sitting", name="is_proven", field=models.BooleanField(default=True)
        ),
        migrations.AddField(
            model_name="sitting",
            name="mark",
            field=models.CharField(blank=True, max_length=64, default=""),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="sitting",
            name="worker",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="sittings",
                to="annotation.worker",
            ),
        ),
        migrations.AddIndex(
            model_name="sitting",
            index=models.Index(
                condition=models.Q(("mark", ""), _negated=True),
                fields=["mark"],
                name="sitting_mark",
            ),
        ),
        migrations.AddConstraint(
            model_name="sitting",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("worker", None), models.Q(("status", "lapsed"), _negated=True)
                ),
                fields=("proof",),
                name="one_sitting_per_unknown_worker",
            ),
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
