"""Experiments as pure functions over a release. Imports no Django, Celery or boto3."""
