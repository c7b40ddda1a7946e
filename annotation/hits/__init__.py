"""The task pages: ExternalQuestion pages in a sandboxed frame, without cookies."""
