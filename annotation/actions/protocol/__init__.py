"""Facts and judgments, and the states of images that are folded from them."""
