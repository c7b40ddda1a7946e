"""Experiments on a finished release. Sees of annotation only its release format."""
