"""The format of log lines: the time in UTC, and never more than one line from outside text."""

import logging
import re
from datetime import UTC, datetime

# Characters that would begin a new line, or move the cursor of a terminal that shows the log.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class LineFormatter(logging.Formatter):
    """Writes control characters in a message as escapes; our own tracebacks keep their lines.

    >>> LineFormatter("%(message)s").format(logging.makeLogRecord({"msg": "a\\nb"}))
    'a\\\\nb'
    """

    def formatTime(  # logging's own name
        self, record: logging.LogRecord, datefmt: str | None = None
    ) -> str:
        """Return the time in UTC, to the millisecond."""
        at = datetime.fromtimestamp(record.created, UTC)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def formatMessage(self, record: logging.LogRecord) -> str:  # logging's own name
        """Return the line with its control characters escaped."""
        return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], super().formatMessage(record))
