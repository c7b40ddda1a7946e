"""The pages a campaign owner looks at."""
