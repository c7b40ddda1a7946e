"""The simulated workers' browser, and what they read off a page."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.simulation.http.browser import Browser, UnreachableError
from annotation.simulation.http.pages import Page
from annotation.simulation.http.site import Task, task_of

PAGE = """<!doctype html><title>Find</title>
<form method="post" action="/marketplace/logout/">
<input type="hidden" name="csrfmiddlewaretoken" value="a&amp;b"></form>
<h1>Find <em>HITs</em></h1>
<ul><li><h2><a href="/marketplace/groups/3ABC/">Links</a></h2><a href="/marketplace/groups/3ABC/">
again</a><li><a href="/marketplace/groups/3DEF/">Boxes</a><a href="/marketplace/work/">work</a></ul>
<form action="work/9/return/" method="POST"><input name="x" value="1"><input type="checkbox"
name="auto" value="1"><input type="checkbox" name="all" value="2" checked></form>
<iframe src="http://localhost/hits/3/links/?assignmentId=9&amp;workerId=A1"></iframe>
<script id="page" type="application/json">{"mode": "a \\u003C/script\\u003E"}</script>
<script>var x = "<h1>no</h1>";</script>
<footer>Your worker id: <code>A1B2</code></footer>"""


def test_what_is_read_off_a_page() -> None:
    page = Page("http://here/marketplace/", PAGE)
    assert page.groups == ["3ABC", "3DEF"]
    assert page.heading == "Find HITs"
    assert page.token == "a&b"
    assert page.frame == "http://localhost/hits/3/links/?assignmentId=9&workerId=A1"
    assert page.codes == ["A1B2"]
    assert page.json == {"page": '{"mode": "a \\u003C/script\\u003E"}'}
    form = page.form_to("/return/")
    assert form is not None
    assert (form.action, form.method) == ("http://here/marketplace/work/9/return/", "post")
    assert form.fields == {"x": "1", "all": "2"}
    assert page.form_to("/elsewhere/") is None


def test_an_empty_page_has_nothing() -> None:
    page = Page("http://here/", "")
    assert (page.groups, page.token, page.frame, page.heading) == ([], "", "", "")


@pytest.mark.parametrize(
    ("frame", "task"),
    [
        ("http://t/hits/3/links/?hitId=A", Task(3, Stage.LINKS, SittingKind.WORK)),
        ("http://t/hits/12/drawing/test/", Task(12, Stage.DRAWING, SittingKind.TEST)),
        ("http://t/hits/3/cooking/", None),
        ("http://t/hits/3/links/examples/", None),
        ("https://tasks.example.org/page?stage=links", None),
        ("", None),
    ],
)
def test_what_a_frame_is_about(frame: str, task: Task | None) -> None:
    assert task_of(frame) == task


class Handler(BaseHTTPRequestHandler):
    """Says what it was asked; closes, fails and redirects when asked to."""

    protocol_version = "HTTP/1.1"
    connections = 0

    def setup(self) -> None:
        super().setup()
        type(self).connections += 1

    def do_GET(self) -> None:
        match self.path:
            case "/cookie":
                self._say(b"", {"Set-Cookie": "name=value; Path=/; HttpOnly"})
            case "/forget":
                self._say(b"", {"Set-Cookie": 'name=""; Max-Age=0'})
            case "/moved":
                self._say(b"", {"Location": "/", "Set-Cookie": "moved=1"}, 302)
            case "/circle":
                self._say(b"", {"Location": "/circle"}, 302)
            case "/broken":
                self._say(b"", {}, 503)
            case "/closes":
                # Without a word that it will.
                self._say(b"closed", {})
                self.close_connection = True
            case _:
                self._say(self.headers.get("Cookie", "none").encode(), {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/moved":
            self._say(b"", {"Location": "/"}, 302)
        else:
            sent = parse_qs(body.decode()) or body.decode()
            told = [self.headers.get(name) for name in ("Referer", "Authorization", "Cookie")]
            self._say(repr((sent, *told)).encode(), {})

    def _say(self, body: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[tuple[str, type[Handler]]]:
    handler = type("Counted", (Handler,), {"connections": 0})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_connections_and_cookies_are_kept() -> None:
    with served() as (url, handler), closing(Browser()) as browser:
        assert browser.get(f"{url}/").text == "none"
        browser.get(f"{url}/cookie")
        assert browser.get(f"{url}/").text == "name=value"
        assert browser.get(f"{url}/", cookies=False).text == "none"
        browser.get(f"{url}/forget")
        assert browser.get(f"{url}/").text == "none"
        assert (browser.requests, handler.connections) == (6, 1)


def test_redirects_lead_to_a_page() -> None:
    with served() as (url, _), closing(Browser()) as browser:
        reply = browser.get(f"{url}/moved")
        assert (reply.path, reply.text) == ("/", "moved=1")
        assert browser.post_form(f"{url}/moved", {"a": "b"}).text == "moved=1"
        with pytest.raises(UnreachableError, match="redirects endlessly"):
            browser.get(f"{url}/circle")


def test_what_forms_and_scripts_send() -> None:
    with served() as (url, _), closing(Browser()) as browser:
        browser.get(f"{url}/cookie")
        form = browser.post_form(f"{url}/form", {"a": "ä &"}, referrer=f"{url}/")
        assert form.text == repr(({"a": ["ä &"]}, f"{url}/", None, "name=value"))
        script = browser.post_json(f"{url}/api", {"b": 1}, token="t")
        assert script.text == repr(('{"b":1}', None, "Bearer t", None))


def test_a_connection_that_the_server_has_closed_is_made_anew() -> None:
    with served() as (url, handler), closing(Browser()) as browser:
        assert browser.get(f"{url}/closes").text == "closed"
        assert browser.get(f"{url}/").text == "none"
        assert handler.connections == 2


def test_a_server_with_a_problem_or_none_at_all_is_unreachable() -> None:
    with (
        served() as (url, _),
        closing(Browser()) as browser,
        pytest.raises(UnreachableError, match="503"),
    ):
        browser.get(f"{url}/broken")
    with closing(Browser()) as browser, pytest.raises(UnreachableError, match="cannot be reached"):
        browser.get(f"{url}/")
