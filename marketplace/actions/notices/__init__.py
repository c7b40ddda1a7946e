"""Messages to workers, and the notifications that requesters subscribe to."""
