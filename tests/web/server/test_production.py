"""The site as the containers run it: production mode, collected files, the same server."""

import http.client
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT, environment, wait_for
from tests.services import free_port


@pytest.mark.slow
def test_serves(tmp_path: Path) -> None:
    port = free_port()
    settings = environment(
        CHAINBOX_MODE="production",
        CHAINBOX_VAR=str(tmp_path),
        CHAINBOX_BEHIND_PROXY="yes",
        CHAINBOX_TRUSTED_PROXIES="1",
        SECRET_KEY="abcdefghij" * 5,
        ALLOWED_HOSTS="chainbox.example.org",
        DATABASE_URL=f"sqlite:///{tmp_path}/box.sqlite3",
        PORT=str(port),
    )
    for command in (["migrate"], ["collectstatic", "--noinput"]):
        subprocess.run(
            [sys.executable, "manage.py", *command, "--verbosity=0"],
            env=settings,
            cwd=ROOT,
            check=True,
        )
    server = subprocess.Popen([sys.executable, "-m", "config.server"], env=settings, cwd=ROOT)

    def healthy() -> bool:
        check = [sys.executable, "-m", "config.healthcheck"]
        return subprocess.run(check, env=settings, cwd=ROOT).returncode == 0

    def get(path: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", path, headers={"Host": "chainbox.example.org", **headers})
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    try:
        wait_for(lambda: server.poll() is not None or healthy(), "the health check")
        assert server.poll() is None
        plain = get("/accounts/login/")
        assert plain.status == 301
        assert plain.headers["Location"].startswith("https://")
        page = get("/accounts/login/", **{"X-Forwarded-Proto": "https"})
        assert page.status == 200
        assert int(page.headers["Strict-Transport-Security"].partition("=")[2]) >= 31_536_000
        assert page.headers["Set-Cookie"].startswith("__Host-csrftoken=")
        assert "Secure" in page.headers["Set-Cookie"]
        assert get("/accounts/login/", Host="evil.example.org").status == 400
        style = get("/static/admin/css/base.css", **{"X-Forwarded-Proto": "https"})
        assert (style.status, style.headers.get_content_type()) == (200, "text/css")
    finally:
        server.terminate()
        server.wait(timeout=30)
