"""Writing a campaign's finished images as a dataset."""
