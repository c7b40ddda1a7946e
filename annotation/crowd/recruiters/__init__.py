"""Where workers come from: adapters beside the marketplace, each a `Recruiter`."""
