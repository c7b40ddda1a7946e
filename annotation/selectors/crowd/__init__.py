"""The crowd: HITs on the marketplace, their supply, the outbox, money and workers."""
