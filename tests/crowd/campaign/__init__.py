"""A campaign with a crowd: its launch, its budgets, its cost estimate."""
