"""The six crowd tasks, a module each: which question a chain raises, and what an answer changes."""
