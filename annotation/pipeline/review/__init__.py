"""What reviewers decide about chains, what they undo, and judgments in doubt."""
