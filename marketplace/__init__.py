"""A self-hosted marketplace with MTurk's requester API. It knows nothing about annotation."""
