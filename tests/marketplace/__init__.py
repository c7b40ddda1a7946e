"""Tests of the marketplace: rules and lifecycle here; API, pages and questions in subfolders."""
