"""The demo setup of `make run`: accounts, a requester with play money, and its keys."""
