"""Who may do what: every route, every method, every kind of account.

Every route must be in the table below; a new one without an entry fails.
"""

from enum import Enum
from typing import NamedTuple

import pytest
from django.contrib.auth.models import Permission, User
from django.http import HttpResponseBase
from django.test import Client

from marketplace.actions.workers import worker_sign_up
from tests.web.routes import Route, requestable, routes


class Kind(Enum):
    """The accounts there are, from nobody to everything."""

    ANONYMOUS = "nobody signed in"
    ACCOUNT = "an account without any permission"
    WORKER = "a worker of the marketplace"
    VIEWER = "who may view campaigns"
    EDITOR = "who may view and change campaigns"
    ESTIMATOR = "who may view campaigns and have their costs estimated"
    EXPERIMENTER = "who may view campaigns and start experiments"
    STAFF = "staff without any permission"
    SUPERUSER = "a superuser"


RESEARCHERS = {
    Kind.VIEWER: "view_campaign",
    Kind.EDITOR: "change_campaign",
    Kind.ESTIMATOR: "estimate_campaign",
    Kind.EXPERIMENTER: "add_experiment",
}


class Who(Enum):
    """Whom a page lets in."""

    PUBLIC = frozenset(Kind)
    SIGNED_IN = frozenset(Kind) - {Kind.ANONYMOUS}
    RESEARCHER = frozenset(RESEARCHERS) | {Kind.SUPERUSER}
    EDITOR = frozenset({Kind.EDITOR, Kind.SUPERUSER})
    ESTIMATOR = frozenset({Kind.ESTIMATOR, Kind.SUPERUSER})
    EXPERIMENTER = frozenset({Kind.EXPERIMENTER, Kind.SUPERUSER})
    STAFF = frozenset({Kind.STAFF, Kind.SUPERUSER})
    # No account helps: a ticket or a signature does, and these requests have none.
    SIGNED = frozenset[Kind]()


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
READ = frozenset({"GET", "HEAD"})


class Rule(NamedTuple):
    """Who may read a page, who may write with it, and which methods it accepts at all."""

    read: Who | None = None
    write: Who | None = None
    # What Django's own views, and frames of other origins, ask for beyond that.
    also: frozenset[str] = frozenset()

    def methods(self) -> frozenset[str]:
        """Return the methods that are not answered with 405."""
        read = READ if self.read else frozenset[str]()
        return read | ({"POST"} if self.write else frozenset()) | self.also

    def lets_in(self, kind: Kind, method: str) -> bool:
        """Tell whether a request is answered otherwise than with "not you"."""
        who = self.write if method not in READ and self.write else self.read or self.write
        assert who is not None
        return kind in who.value


def reads(who: Who) -> Rule:
    return Rule(read=who)


def writes(who: Who) -> Rule:
    return Rule(write=who)


def both(read: Who, write: Who) -> Rule:
    return Rule(read=read, write=write)


# Django's own class-based forms.
OWN_FORM = frozenset({"PUT", "OPTIONS"})
EVERY = frozenset(METHODS)

# Route name → rule. A name that ends in ":" stands for a whole namespace.
TABLE: dict[str, Rule] = {
    "healthz": reads(Who.PUBLIC),
    "login": Rule(Who.PUBLIC, Who.PUBLIC, OWN_FORM),
    "logout": Rule(write=Who.PUBLIC, also=frozenset({"OPTIONS"})),
    # Leads to our own sign-in page, whatever is sent.
    "admin-login": Rule(Who.PUBLIC, Who.PUBLIC, EVERY),
    "admin:": Rule(Who.STAFF, Who.STAFF, EVERY),
    "campaigns": reads(Who.RESEARCHER),
    "campaign": reads(Who.RESEARCHER),
    "image": reads(Who.RESEARCHER),
    "guides": reads(Who.RESEARCHER),
    "guide": both(Who.RESEARCHER, Who.EDITOR),
    "crowd": reads(Who.RESEARCHER),
    "crowd-supply": writes(Who.EDITOR),
    "crowd-estimate": writes(Who.ESTIMATOR),
    "crowd-workers": reads(Who.RESEARCHER),
    "crowd-worker": reads(Who.RESEARCHER),
    "crowd-trust": writes(Who.EDITOR),
    "crowd-appeal": writes(Who.EDITOR),
    "crowd-calls": reads(Who.RESEARCHER),
    "crowd-retry": writes(Who.EDITOR),
    "experiments": both(Who.RESEARCHER, Who.EXPERIMENTER),
    "experiment": reads(Who.RESEARCHER),
    "experiment-retry": writes(Who.EXPERIMENTER),
    # The signature in the address is the permission: task pages in frames have no cookies.
    "photo": reads(Who.PUBLIC),
    # Task pages in the marketplace's frames, and what their script calls with a signed ticket.
    "hits:page": reads(Who.PUBLIC),
    "hits:test": reads(Who.PUBLIC),
    "hits:examples": reads(Who.PUBLIC),
    **{
        f"hits:api-{name}": Rule(write=Who.SIGNED, also=frozenset({"OPTIONS"}))
        for name in ("open", "draft", "finish", "consent")
    },
    # The signature on a notification is the permission, the token in an appeal's link.
    "crowd-notifications": writes(Who.SIGNED),
    "hits:appeal": both(Who.PUBLIC, Who.PUBLIC),
    # Here the permission is the request's own signature; without one there is nothing to see.
    "marketplace-api": Rule(Who.PUBLIC, Who.PUBLIC, EVERY),
    # The worker site. Who has an account but is no worker yet is asked to become one.
    "marketplace:browse": reads(Who.SIGNED_IN),
    "marketplace:group": reads(Who.SIGNED_IN),
    "marketplace:accept": writes(Who.SIGNED_IN),
    "marketplace:old-preview": reads(Who.SIGNED_IN),
    "marketplace:old-project": reads(Who.SIGNED_IN),
    "marketplace:dashboard": reads(Who.SIGNED_IN),
    "marketplace:work": both(Who.SIGNED_IN, Who.SIGNED_IN),
    "marketplace:return": writes(Who.SIGNED_IN),
    "marketplace:status": reads(Who.SIGNED_IN),
    "marketplace:earnings": reads(Who.SIGNED_IN),
    "marketplace:messages": reads(Who.SIGNED_IN),
    "marketplace:qualifications": reads(Who.SIGNED_IN),
    "marketplace:qualification": reads(Who.SIGNED_IN),
    "marketplace:request": writes(Who.SIGNED_IN),
    "marketplace:test": both(Who.SIGNED_IN, Who.SIGNED_IN),
    "marketplace:join": both(Who.SIGNED_IN, Who.SIGNED_IN),
    "marketplace:account": both(Who.SIGNED_IN, Who.SIGNED_IN),
    "marketplace:account-password": Rule(Who.SIGNED_IN, Who.SIGNED_IN, OWN_FORM),
    "marketplace:account-data": reads(Who.SIGNED_IN),
    "marketplace:account-erase": both(Who.SIGNED_IN, Who.SIGNED_IN),
    "marketplace:login": Rule(Who.PUBLIC, Who.PUBLIC, OWN_FORM),
    "marketplace:logout": Rule(write=Who.PUBLIC, also=frozenset({"OPTIONS"})),
    "marketplace:sign-up": both(Who.PUBLIC, Who.PUBLIC),
    "marketplace:terms": reads(Who.PUBLIC),
    # Frames have no cookies: the assignment's id and the signed address are the permission.
    "marketplace:external-submit": writes(Who.PUBLIC),
    "marketplace:external-submit-by": writes(Who.PUBLIC),
    "marketplace:question": reads(Who.PUBLIC),
}
# Exceptions inside a namespace: Django's own sign-in and sign-out pages have to be open.
TABLE |= {
    "admin:login": Rule(Who.PUBLIC, Who.PUBLIC, EVERY),
    "admin:logout": Rule(Who.PUBLIC, Who.PUBLIC, EVERY),
}
# These lead to the sign-in page on purpose: that is no refusal there.
SIGN_IN = {"login", "logout", "admin-login", "admin:login", "admin:logout"}
SIGN_IN |= {"marketplace:login", "marketplace:logout"}
# What a frame of another origin, or a program, posts: no cookie is believed there.
WITHOUT_CSRF = {
    *("hits:api-open", "hits:api-draft", "hits:api-finish", "hits:api-consent"),
    *("crowd-notifications", "marketplace-api"),
    *("marketplace:external-submit", "marketplace:external-submit-by"),
}


def entry(name: str) -> Rule | None:
    """Look up a route in the table by its own name, or else by its namespace."""
    namespaces = [key for key in TABLE if key.endswith(":") and name.startswith(key)]
    return TABLE.get(name) or (TABLE[max(namespaces, key=len)] if namespaces else None)


def account(kind: Kind) -> User | None:
    """Return the account of a kind, made at its first use."""
    if kind is Kind.ANONYMOUS:
        return None
    found = User.objects.filter(username=kind.name).first()
    if found is not None:
        return found
    if kind is Kind.WORKER:
        worker = worker_sign_up(
            username=kind.name, password="x", country="GB", is_adult=True, open_to_all=True
        )
        assert worker.user is not None
        return worker.user
    if kind is Kind.SUPERUSER:
        return User.objects.create_superuser(kind.name)
    made = User.objects.create_user(kind.name, is_staff=kind is Kind.STAFF)
    if kind in RESEARCHERS:
        names = {"view_campaign", RESEARCHERS[kind]}
        made.user_permissions.add(*Permission.objects.filter(codename__in=names))
    return made


def client_of(kind: Kind, *, enforce_csrf_checks: bool = False) -> Client:
    """Return a client that is signed in; afresh, since some routes sign it out."""
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    user = account(kind)
    if user is not None:
        client.force_login(user)
    return client


def answer(client: Client, method: str, path: str) -> HttpResponseBase:
    return client.generic(method, path, content_type="application/x-www-form-urlencoded")


def refused(response: HttpResponseBase) -> bool:
    """Tell whether the answer is "sign in first" or "not you"."""
    to_sign_in = response.status_code == 302 and "login" in response.headers["Location"]
    return to_sign_in or response.status_code in {401, 403}


def test_every_route_has_an_entry() -> None:
    missing = [name for name, _ in routes() if entry(name) is None]
    assert missing == [], "say in TABLE who may use these"


def test_no_entry_is_out_of_date() -> None:
    names = {name for name, _ in routes()}
    for name in TABLE:
        assert name in names or any(known.startswith(name) for known in names if name[-1] == ":")


def test_every_kind_of_permission_is_somebody_s() -> None:
    used = {who for rule in TABLE.values() for who in (rule.read, rule.write) if who}
    assert used == set(Who)


def own_routes() -> list[Route]:
    return [
        route
        for route in requestable()
        if route.name not in SIGN_IN and not route.name.startswith("admin:")
    ]


@pytest.mark.slow
@pytest.mark.django_db
def test_who_may_do_what() -> None:
    wrong = []
    for kind in Kind:
        client = client_of(kind)
        for route in own_routes():
            rule = entry(route.name)
            assert rule is not None, f"say in TABLE who may use {route.name}"
            for method in METHODS:
                response = answer(client, method, route.path)
                if not is_right(rule, kind, method, response):
                    wrong.append(f"{method} {route.name} by {kind.value}: {response.status_code}")
    assert wrong == [], "\n".join(wrong)


def is_right(rule: Rule, kind: Kind, method: str, response: HttpResponseBase) -> bool:
    """Tell whether a rule foresees this answer."""
    if response.headers.get("Location", "").startswith("/marketplace/join/"):
        # Whatever was wanted, an account that is no worker's is asked to become one first.
        return rule.lets_in(kind, method) and kind is not Kind.WORKER
    if rule.lets_in(kind, method):
        is_taken = method in rule.methods()
        return not refused(response) and (response.status_code == 405) != is_taken
    if method in rule.methods() - {"OPTIONS"}:
        return refused(response)
    # Either is a no, and which comes first does not matter; what may be asked is no secret.
    return refused(response) or response.status_code in {405, 204}


@pytest.mark.django_db
def test_signing_in_and_out_is_open_to_all() -> None:
    for route in requestable():
        for kind in Kind if route.name in SIGN_IN else ():
            for method in METHODS:
                status = answer(client_of(kind), method, route.path).status_code
                assert status in {200, 302, 405}, (route, kind, method)


def admin_routes() -> list[Route]:
    return [
        route
        for route in requestable()
        if route.name.startswith("admin:") and route.name not in SIGN_IN
    ]


# Pages of the administration that staff sees whatever else it may do.
STAFF_SEES = {"admin:index", "admin:jsi18n", "admin:password_change", "admin:password_change_done"}


@pytest.mark.slow
@pytest.mark.django_db
def test_the_administration_is_for_staff() -> None:
    wrong = []
    for kind in Kind:
        client = client_of(kind)
        for route in admin_routes():
            for method in METHODS:
                response = answer(client, method, route.path)
                if kind not in Who.STAFF.value:
                    is_fine = refused(response)
                elif kind is Kind.STAFF and route.name not in STAFF_SEES:
                    # Which methods there are is no secret.
                    is_fine = refused(response) or method == "OPTIONS"
                    is_fine = is_fine or response.status_code in {302, 404, 405}
                else:
                    # Some pages are nobody's: read-only tables, lookups without a question.
                    is_fine = response.status_code < 500
                if not is_fine:
                    wrong.append(f"{method} {route.name} by {kind.value}: {response.status_code}")
    assert wrong == []


@pytest.mark.django_db
def test_no_form_is_taken_from_another_site() -> None:
    """Whoever may do everything does nothing because another site's page says so."""
    client = client_of(Kind.SUPERUSER, enforce_csrf_checks=True)
    for route in requestable():
        if route.name not in WITHOUT_CSRF:
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                status = answer(client, method, route.path).status_code
                assert status in {403, 405}, (method, route)
