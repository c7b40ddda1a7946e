"""MTurk's rules as pure functions: they use no Django, no database and no clock."""
