"""Writing a backup of the whole site, and restoring one."""
