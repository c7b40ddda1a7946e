"""The feature store: shards of features on disk, what is missing, and its extraction."""
