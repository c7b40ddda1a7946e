"""Estimates of a campaign's costs are made in the background and kept."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0006_arrivals'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StoredEstimate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=10)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0)),
                ('beat_at', models.DateTimeField(blank=True, null=True)),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('body', models.TextField(blank=True)),
                ('error', models.TextField(blank=True)),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='estimates', to='annotation.campaign')),
                ('settings', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.campaignsettings')),
            ],
            options={
                'permissions': [('estimate_campaign', "Can have a campaign's costs estimated")],
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['waiting', 'running'])), fields=('campaign',), name='one_estimate_under_way')],
            },
        ),
    ]
