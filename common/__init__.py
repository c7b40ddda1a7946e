"""What the applications share: code that belongs to none of them."""
