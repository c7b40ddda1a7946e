"""The protocol as pure functions: captions → mentions → links → chains → boxes → merging → release.

Nothing here imports Django, Celery or boto3; its tests need no database.
"""
