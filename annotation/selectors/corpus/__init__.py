"""Photos: their signed addresses, and whether their files are intact."""
