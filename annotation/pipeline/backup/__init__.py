"""The backup file: its layout, and the limits that keep damaged or hostile files out."""
