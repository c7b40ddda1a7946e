"""The task pages in a real browser, in the marketplace's frame."""
