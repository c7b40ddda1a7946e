"""A small web client: persistent connections, cookies, redirects, and nothing else.

It uses only the standard library. One browser belongs to one thread.
"""

import http.client
import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

import msgspec

TIMEOUT: Final = 60.0
MOST_REDIRECTS: Final = 5
# Servers close connections that nobody uses, some after two seconds.
IDLE_SECONDS: Final = 1.0
FORM: Final = "application/x-www-form-urlencoded"
_REDIRECTS: Final = (301, 302, 303)


class UnreachableError(OSError):
    """There was no reply, or the server had a problem: the same request may succeed later."""


class Reply(msgspec.Struct, frozen=True):
    """A server's reply, and its final address."""

    url: str
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    @property
    def path(self) -> str:
        return urlsplit(self.url).path


class Browser:
    """Keeps one connection to each server, and the cookies of the servers that it visits."""

    def __init__(self) -> None:
        self._connections: dict[tuple[str, str], http.client.HTTPConnection] = {}
        self._used: dict[tuple[str, str], float] = {}
        self._cookies: dict[str, dict[str, str]] = {}
        self.requests = 0

    def get(self, url: str, *, cookies: bool = True) -> Reply:
        """Get a page, following redirects. A page in a frame of another site has no cookies."""
        return self._follow("GET", url, {}, b"", cookies=cookies)

    def post_form(
        self, url: str, fields: Mapping[str, str], *, referrer: str = "", cookies: bool = True
    ) -> Reply:
        """Send a form and return the resulting page."""
        headers = {"Content-Type": FORM}
        if referrer:
            headers["Referer"] = referrer
        return self._follow("POST", url, headers, urlencode(fields).encode(), cookies=cookies)

    def post_json(self, url: str, body: object, *, token: str) -> Reply:
        """Call an endpoint as a page's script does: with its ticket, without cookies."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        return self._send("POST", url, headers, msgspec.json.encode(body), cookies=False)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _follow(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, cookies: bool
    ) -> Reply:
        for _ in range(MOST_REDIRECTS):
            reply = self._send(method, url, headers, body, cookies=cookies)
            if reply.status not in _REDIRECTS:
                return reply
            method, url, headers, body = "GET", reply.url, {}, b""
        raise UnreachableError(f"{url} redirects endlessly")

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, cookies: bool
    ) -> Reply:
        """Send one request; after a redirect, the reply's address is its target."""
        parts = urlsplit(url)
        server = (parts.scheme, parts.netloc)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        host = parts.hostname or ""
        jar = self._cookies.setdefault(host, {}) if cookies else {}
        sent = dict(headers)
        if jar:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        response, content = self._exchange(server, method, path, sent, body)
        for line in response.headers.get_all("Set-Cookie", []) if cookies else []:
            _keep(line, jar)
        if response.status >= 500 or response.status == 429:
            raise UnreachableError(f"{url} answered {response.status}")
        where = response.headers.get("Location") if response.status in _REDIRECTS else None
        return Reply(
            url=urljoin(url, where) if where else url, status=response.status, body=content
        )

    def _exchange(
        self,
        server: tuple[str, str],
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> tuple[http.client.HTTPResponse, bytes]:
        # The server may have closed a kept connection: then try once more on a new one.
        kept = self._kept(server)
        for connection in ([kept] if kept else []) + [None]:
            try:
                connection = connection or self._connect(server)
                connection.request(method, path, body=body or None, headers=dict(headers))
                response = connection.getresponse()
                content = response.read()
            except (OSError, http.client.HTTPException) as error:
                self._drop(server)
                if connection is kept and kept is not None:
                    continue
                raise UnreachableError(f"{server[1]} cannot be reached: {error!r}") from error
            self.requests += 1
            if response.will_close:
                self._drop(server)
            else:
                self._used[server] = time.monotonic()
            return response, content
        raise AssertionError("a new connection gives a reply or raises")

    def _kept(self, server: tuple[str, str]) -> http.client.HTTPConnection | None:
        connection = self._connections.get(server)
        if connection and time.monotonic() - self._used[server] > IDLE_SECONDS:
            self._drop(server)
            return None
        return connection

    def _connect(self, server: tuple[str, str]) -> http.client.HTTPConnection:
        scheme, netloc = server
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self._connections[server] = connection = kind(netloc, timeout=TIMEOUT)
        self._used[server] = time.monotonic()
        return connection

    def _drop(self, server: tuple[str, str]) -> None:
        connection = self._connections.pop(server, None)
        if connection:
            connection.close()


def _keep(line: str, jar: dict[str, str]) -> None:
    """Put a cookie into the jar, or take it out if the server says that it has expired."""
    try:
        given = SimpleCookie(line)
    except CookieError:
        return
    for name, morsel in given.items():
        if morsel["max-age"] == "0" or not morsel.value:
            jar.pop(name, None)
        else:
            jar[name] = morsel.coded_value
