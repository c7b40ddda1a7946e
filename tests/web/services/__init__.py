"""Database, broker, cache and clocks, and what happens while one is away."""
