"""The task pages in a real browser, in the marketplace's frame."""

# Checks that several files share say what differs, as those in tests do.
