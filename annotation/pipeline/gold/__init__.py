"""Gold questions, whose answers are known: making, choosing, mixing and maintaining them."""
