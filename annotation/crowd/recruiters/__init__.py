"""Sources of workers: one module per source, each a `Recruiter`, listed in `registry`."""
