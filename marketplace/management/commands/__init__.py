"""Commands for the marketplace's operator."""
