"""Parts of the worker site that need no database."""
