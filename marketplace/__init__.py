"""A self-hosted marketplace that speaks MTurk's requester API. Knows nothing of annotation."""
