"""Tests that apply to every page: permissions, headers, hostile addresses, full disk, no Redis."""
