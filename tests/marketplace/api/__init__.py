"""The requester API: signatures, validation and each operation, called through boto3."""
