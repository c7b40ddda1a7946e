"""The file that a backup is: how it is laid out, and what is too large or damaged to be read."""
