"""The requester: publishes, confirms and pays through MTurk's API, and finds workers."""
