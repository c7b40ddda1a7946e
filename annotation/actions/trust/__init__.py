"""Workers' standing, appeals against it, and the checks of drawn boxes."""
