"""What `make run` sets up to try the site: accounts, a requester with play money, and its keys."""
