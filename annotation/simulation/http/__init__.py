"""Simulated workers who work as people do: over HTTP, through the marketplace's pages and ours."""
