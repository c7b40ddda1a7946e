"""The states of images, and the settings that they were folded under."""
