"""How many workers an experiment has ended, so that it cannot end them for ever."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('grounding', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='experiment',
            name='deaths',
            field=models.PositiveIntegerField(default=0),
        ),
    ]
