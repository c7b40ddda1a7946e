"""Every write of the marketplace. Locks are taken in one order: HIT, assignment, accounts."""
