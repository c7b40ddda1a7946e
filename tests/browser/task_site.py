"""A requester's own web site: a task page on another origin than the marketplace."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"""<!doctype html>
<title>Name the animal</title>
<form id="task" method="post">
  <input type="hidden" name="assignmentId" id="assignmentId">
  <label>Animal <input name="animal" required></label>
  <button>Done</button>
</form>
<script src="/task.js"></script>
"""
SCRIPT = b"""
const query = new URLSearchParams(location.search);
document.getElementById("assignmentId").value = query.get("assignmentId");
const form = document.getElementById("task");
if (query.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE") {
  form.querySelector("button").disabled = true;
} else {
  form.action = query.get("turkSubmitTo") + "/mturk/externalSubmit";
}
"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        script = self.path.startswith("/task.js")
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.end_headers()
        self.wfile.write(SCRIPT if script else PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def task_site() -> Iterator[str]:
    """Serve the task page; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/task?photo=7&size=big"
    finally:
        server.shutdown()
        server.server_close()
