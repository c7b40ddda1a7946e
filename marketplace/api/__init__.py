"""MTurk's requester API over HTTP: signatures, the wire format, validation, and the operations."""
