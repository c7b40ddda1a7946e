"""Code that the applications share and that belongs to none of them."""
