"""Asks the site on this machine whether it is healthy; the container's health check.

The request must carry a host name that the site accepts, so fetching 127.0.0.1 is not enough.
"""

import http.client
import os
import sys


def main() -> int:
    """Return 0 if /healthz says ok."""
    allowed = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".")
    name = allowed if allowed not in {"", "*"} else "localhost"
    connection = http.client.HTTPConnection(
        "127.0.0.1", int(os.environ.get("PORT") or 8000), timeout=5
    )
    try:
        connection.request("GET", "/healthz", headers={"Host": name})
        return 0 if connection.getresponse().status == 200 else 1
    except OSError:
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
