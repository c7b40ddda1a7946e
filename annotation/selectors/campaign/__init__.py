"""A campaign's overview, what its launch still needs, and its cost estimates."""
