"""Every write. Nothing else in the project changes a table of annotation."""
