"""Settings, `make run`, the web server, and production behind a proxy."""
