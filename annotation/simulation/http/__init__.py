"""Simulated workers who come as people do: over HTTP, through the marketplace's pages and ours."""
