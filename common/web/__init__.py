"""Requests and responses: security policy, origins, caching, uploads and text that is refused."""
