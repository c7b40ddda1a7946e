"""Tests of photos, crops, proposals and backbones."""
