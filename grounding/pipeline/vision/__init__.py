"""Vision: photos, crops and regions, the networks that turn them into features, proposals."""
