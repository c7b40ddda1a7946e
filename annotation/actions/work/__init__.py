"""Sittings: leases, answers, their confirmation, recovery, guides, and starved questions."""
