"""Gold questions, whose answers are known: made, chosen, mixed into sittings, and kept good."""
