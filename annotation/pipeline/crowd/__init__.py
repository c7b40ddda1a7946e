"""The crowd as the marketplace sees it: how many HITs to publish, under which terms, for how much."""
