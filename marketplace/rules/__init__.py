"""MTurk's rules as pure functions: no Django, no database, no clock of their own."""
