"""What the applications share: small things that belong to none of them."""
