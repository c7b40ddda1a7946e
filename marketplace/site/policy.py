"""What the worker site's pages may load, show in frames, and be framed by."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

HEADER = "Content-Security-Policy"
_PAGE = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SANDBOX = (
    "allow-scripts",
    "allow-forms",
    "allow-popups",
    "allow-modals",
    "allow-downloads",
    "allow-top-navigation-by-user-activation",
)
# A requester's own HTML is served from our host, so it gets an origin of its own and no way out.
HTML_QUESTION_POLICY = (
    "sandbox allow-scripts allow-forms allow-popups allow-modals; frame-ancestors 'self'"
)


def page_policy(**changes: str) -> str:
    """Return the policy of a page, with some directives replaced or added."""
    policy = _PAGE | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in policy.items())


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address, as browsers compare them.

    >>> origin_of("https://Example.org:443/a?b")
    'https://example.org'
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    shown = "" if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{port}"
    return f"{parts.scheme}://{host}{shown}"


def sandbox_for(request: HttpRequest, url: str) -> str:
    """Return a frame's sandbox. A page of our own origin must not be able to act as we."""
    is_ours = origin_of(url) == origin_of(request.build_absolute_uri("/"))
    return " ".join(_SANDBOX if is_ours else (*_SANDBOX, "allow-same-origin"))


def allow_frame(response: HttpResponse, url: str) -> HttpResponse:
    """Let the page show this address in a frame; and ours, which answers a submission."""
    response.headers[HEADER] = page_policy(frame_src=f"'self' {origin_of(url)}")
    return response


def allow_media(response: HttpResponse) -> HttpResponse:
    """Let a form of ours show the pictures, sounds and films that its questions name."""
    response.headers[HEADER] = page_policy(
        img_src="'self' data: https: http:", media_src="https: http:"
    )
    return response


def allow_framing(response: HttpResponse) -> HttpResponse:
    """Let the page be shown in a frame of this site."""
    response.headers[HEADER] = page_policy(frame_ancestors="'self'")
    return response
