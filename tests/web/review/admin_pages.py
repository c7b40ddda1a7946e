"""Shared parts of the administration's tests."""

import html
import re
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse


def staff(*permissions: str) -> Client:
    """Sign an account in that may do just this, as view_chain."""
    account = User.objects.create_user("clerk", is_staff=True)
    account.user_permissions.add(
        *Permission.objects.filter(content_type__app_label="annotation", codename__in=permissions)
    )
    client = Client()
    client.force_login(account)
    return client


def listed(model: str) -> str:
    return reverse(f"admin:annotation_{model}_changelist")


def shown(row: Any) -> str:
    return reverse(f"admin:annotation_{row._meta.model_name}_change", args=[row.pk])


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def text_of(source: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", source)))


def act(client: Client, action: str, *rows: Any, **given: str) -> str:
    """Carry out an action on rows, with its form's fields; return the message that follows."""
    data: dict[str, Any] = {"action": action, "_selected_action": [row.pk for row in rows]}
    if given:
        data |= {"confirmed": "1", **given}
    response = client.post(listed(rows[0]._meta.model_name), data, follow=True)
    assert response.status_code in {200, 422}
    return text_of(response.content.decode())
