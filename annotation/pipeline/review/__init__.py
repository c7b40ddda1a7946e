"""What reviewers decide about chains, what they take back, and judgments put in doubt."""
