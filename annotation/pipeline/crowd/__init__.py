"""The crowd on the marketplace: how many HITs to publish, under which terms, and for how much."""
