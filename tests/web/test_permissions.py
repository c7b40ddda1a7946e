"""Who may see what. Every route must be in the table below; a new one without an entry fails."""

from enum import Enum

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponseBase
from django.test import Client

from tests.web.accounts import researcher
from tests.web.routes import Route, requestable, routes


class Who(Enum):
    """The least one must be to see a page."""

    PUBLIC = "anybody"
    SIGNED_IN = "any signed-in account"
    RESEARCHER = "an account that may view campaigns"
    STAFF = "staff"


# Route name → who. A name that ends in ":" stands for a whole namespace.
TABLE: dict[str, Who] = {
    "healthz": Who.PUBLIC,
    "login": Who.PUBLIC,
    "logout": Who.PUBLIC,
    "admin-login": Who.PUBLIC,
    "admin:": Who.STAFF,
    "campaigns": Who.RESEARCHER,
    "campaign": Who.RESEARCHER,
    "image": Who.RESEARCHER,
    "guides": Who.RESEARCHER,
    "guide": Who.RESEARCHER,
    # To change anything there takes the permission to change campaigns too.
    "crowd": Who.RESEARCHER,
    "crowd-supply": Who.RESEARCHER,
    "crowd-workers": Who.RESEARCHER,
    "crowd-worker": Who.RESEARCHER,
    "crowd-trust": Who.RESEARCHER,
    "crowd-appeal": Who.RESEARCHER,
    "crowd-calls": Who.RESEARCHER,
    "crowd-retry": Who.RESEARCHER,
    # To start one takes the permission to add experiments too.
    "experiments": Who.RESEARCHER,
    "experiment": Who.RESEARCHER,
    "experiment-retry": Who.RESEARCHER,
    # The signature in the address is the permission: task pages in frames have no cookies.
    "photo": Who.PUBLIC,
    # Task pages in the marketplace's frames, and what their script calls with a signed ticket.
    "hits:page": Who.PUBLIC,
    "hits:test": Who.PUBLIC,
    "hits:examples": Who.PUBLIC,
    "hits:api-open": Who.PUBLIC,
    "hits:api-draft": Who.PUBLIC,
    "hits:api-finish": Who.PUBLIC,
    "hits:api-consent": Who.PUBLIC,
    # The signature on a notification is the permission, the token in an appeal's link.
    "crowd-notifications": Who.PUBLIC,
    "hits:appeal": Who.PUBLIC,
    # Here the permission is the request's own signature.
    "marketplace-api": Who.PUBLIC,
    # The worker site. Who has an account but is no worker yet is asked to become one.
    "marketplace:browse": Who.SIGNED_IN,
    "marketplace:group": Who.SIGNED_IN,
    "marketplace:accept": Who.SIGNED_IN,
    "marketplace:old-preview": Who.SIGNED_IN,
    "marketplace:old-project": Who.SIGNED_IN,
    "marketplace:dashboard": Who.SIGNED_IN,
    "marketplace:work": Who.SIGNED_IN,
    "marketplace:return": Who.SIGNED_IN,
    "marketplace:status": Who.SIGNED_IN,
    "marketplace:earnings": Who.SIGNED_IN,
    "marketplace:messages": Who.SIGNED_IN,
    "marketplace:qualifications": Who.SIGNED_IN,
    "marketplace:qualification": Who.SIGNED_IN,
    "marketplace:request": Who.SIGNED_IN,
    "marketplace:test": Who.SIGNED_IN,
    "marketplace:join": Who.SIGNED_IN,
    "marketplace:account": Who.SIGNED_IN,
    "marketplace:account-password": Who.SIGNED_IN,
    "marketplace:account-data": Who.SIGNED_IN,
    "marketplace:account-erase": Who.SIGNED_IN,
    "marketplace:login": Who.PUBLIC,
    "marketplace:logout": Who.PUBLIC,
    "marketplace:sign-up": Who.PUBLIC,
    "marketplace:terms": Who.PUBLIC,
    # Frames have no cookies: the assignment's id and the signed address are the permission.
    "marketplace:external-submit": Who.PUBLIC,
    "marketplace:external-submit-by": Who.PUBLIC,
    "marketplace:question": Who.PUBLIC,
}
# Exceptions inside a namespace: Django's own sign-in and sign-out pages have to be open.
TABLE |= {"admin:login": Who.PUBLIC, "admin:logout": Who.PUBLIC}


def entry(name: str) -> Who | None:
    """Look a route up in the table: by its own name, else by its namespace."""
    namespaces = [key for key in TABLE if key.endswith(":") and name.startswith(key)]
    return TABLE.get(name) or (TABLE[max(namespaces, key=len)] if namespaces else None)


def refused(response: HttpResponseBase) -> bool:
    """Tell whether the answer is "sign in first" or "not you"."""
    to_sign_in = response.status_code == 302 and "login" in response.headers["Location"]
    return to_sign_in or response.status_code in {401, 403}


def test_every_route_has_an_entry() -> None:
    missing = [name for name, _ in routes() if entry(name) is None]
    assert missing == [], "say in TABLE who may see these"


def test_no_entry_is_out_of_date() -> None:
    names = {name for name, _ in routes()}
    for name in TABLE:
        assert name in names or any(known.startswith(name) for known in names if name[-1] == ":")


@pytest.mark.django_db
@pytest.mark.parametrize("route", requestable(), ids=lambda route: route.name)
def test_who_may_see(client: Client, route: Route) -> None:
    who = entry(route.name)
    assert who is not None, "say in TABLE who may see this"
    if route.name in {"admin-login", "admin:login", "admin:logout", "logout", "marketplace:logout"}:
        # These lead to the sign-in page on purpose.
        assert client.get(route.path).status_code in {200, 302, 405}
        return
    assert refused(client.get(route.path)) == (who is not Who.PUBLIC), "anonymous"
    client.force_login(User.objects.create_user("somebody"))
    assert refused(client.get(route.path)) == (who in {Who.RESEARCHER, Who.STAFF}), "signed in"
    client.force_login(researcher())
    assert refused(client.get(route.path)) == (who is Who.STAFF), "researcher"
    client.force_login(User.objects.create_superuser("chief"))
    # Within the admin some pages are nobody's: read-only tables, lookups without a question.
    if not route.name.startswith("admin:") or route.name == "admin:index":
        assert not refused(client.get(route.path)), "staff"
