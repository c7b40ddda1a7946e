"""The crowd: HITs on the marketplace, their supply and terms, the outbox, payments, workers."""
