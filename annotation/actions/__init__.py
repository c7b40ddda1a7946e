"""Every write: nothing else in the project changes a table of annotation."""
