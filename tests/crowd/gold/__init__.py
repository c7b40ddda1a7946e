"""Gold questions in the database: made, chosen, disguised, kept good."""
