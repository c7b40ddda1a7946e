"""Release formats: one module a format, listed in `registry`."""
