"""The requester's side against the real marketplace: sending, polling, supply, trust."""
