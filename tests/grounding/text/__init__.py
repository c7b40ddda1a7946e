"""Tests of word vectors, features of captions, relations and training pairs."""
