"""The requester: calls to the marketplace, over MTurk's API only."""
