"""The images that a release contains, and those that it leaves out."""
