"""The health check and the headers every response carries."""

import pytest
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from common.web.csp import ContentSecurityPolicyMiddleware, policy_set, policy_text


@pytest.mark.django_db
def test_ok_when_the_database_answers(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "redis": "not used"}


@pytest.mark.django_db
def test_503_when_it_does_not(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", refuse)
    assert client.get("/healthz").status_code == 503


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/accounts/login/", "/no/such/page"])
def test_every_response_is_guarded(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["Content-Security-Policy"] == policy_text()
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "script-src 'self';" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_a_view_may_replace_one_directive() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return policy_set(HttpResponse("ok"), img_src="'self' blob:")

    response = ContentSecurityPolicyMiddleware(view)(RequestFactory().get("/"))
    policy = response.headers["Content-Security-Policy"]
    assert "img-src 'self' blob:;" in policy
    assert policy.replace(" blob:", " data:") == policy_text(), "all the rest stays strict"
