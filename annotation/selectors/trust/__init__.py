"""Workers' standing, and where they can appeal against it."""
