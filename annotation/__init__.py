"""Captioned photos in, a phrase-grounded dataset out."""
