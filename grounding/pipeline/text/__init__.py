"""Text: word vectors, features of captions, relations between phrases, training pairs."""
