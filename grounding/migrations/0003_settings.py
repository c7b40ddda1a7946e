"""The recipe's settings that an experiment was started with."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('grounding', '0002_attempts'),
    ]

    operations = [
        migrations.AddField(
            model_name='experiment',
            name='settings',
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
