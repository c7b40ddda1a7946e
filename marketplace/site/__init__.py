"""The worker site: accounts, finding and doing HITs, qualifications, earnings, messages."""
