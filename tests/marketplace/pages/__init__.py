"""The worker site's pages, as workers and as attackers use them."""
