"""What the worker site's pages may load and frame, and which pages may frame them."""

from django.http import HttpRequest, HttpResponse

from common.web.csp import HEADER, policy_set, sandbox_text
from common.web.origins import origin_of

_HTML_SANDBOX = ("allow-scripts", "allow-forms", "allow-popups", "allow-modals")
_FRAME_SANDBOX = (
    *_HTML_SANDBOX,
    "allow-downloads",
    "allow-top-navigation-by-user-activation",
)


def sandbox_for(request: HttpRequest, url: str) -> str:
    """Return a frame's sandbox. A page from our own origin must not be able to act as us."""
    is_ours = origin_of(url) == origin_of(request.build_absolute_uri("/"))
    return " ".join(_FRAME_SANDBOX if is_ours else (*_FRAME_SANDBOX, "allow-same-origin"))


def allow_frame(response: HttpResponse, url: str) -> HttpResponse:
    """Let the page show this address in a frame, and our own page that follows a submission."""
    return policy_set(response, frame_src=f"'self' {origin_of(url)}")


def allow_media(response: HttpResponse) -> HttpResponse:
    """Let a form of ours show the images, audio and video that its questions name."""
    return policy_set(response, img_src="'self' data: https: http:", media_src="https: http:")


def allow_framing(response: HttpResponse) -> HttpResponse:
    """Let the page be shown in a frame of this site."""
    return policy_set(response, frame_ancestors="'self'")


def confine_html(response: HttpResponse) -> HttpResponse:
    """Give a requester's HTML, which our host serves, an opaque origin and no way out."""
    response.headers[HEADER] = sandbox_text(" ".join(_HTML_SANDBOX), frame_ancestors="'self'")
    return response
