"""Who may open a sitting, which questions it gets, its guide, and questions that starve."""
