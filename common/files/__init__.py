"""Reading and writing files: atomic writes, size limits, and errors in plain words.

Nothing here needs Django, so the pure pipelines may use it too.
"""
