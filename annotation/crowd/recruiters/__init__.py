"""Where workers come from: one module a source, each a `Recruiter`, listed in `registry`."""
