"""Experiments on a finished release. It imports nothing of annotation but the release format."""
