"""Files that are whole or not there, and plain words for what a disk refuses.

Everything here is Python's standard library, so that any package may use it.
"""
