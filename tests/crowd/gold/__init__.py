"""Gold questions in the database: how they are made, chosen, disguised and maintained."""
