"""Workers: signing up, joining with an existing account, invitations, and leaving."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError

from common.clock import database_now
from marketplace.actions.assignments import WorkRefusedError, assignment_return
from marketplace.models import HIT, Invitation, Message, Requester, Worker
from marketplace.rules.lifecycle import AssignmentStatus


class SignUpRefusedError(ValueError):
    """This person cannot sign up; the message is for them."""


@transaction.atomic
def invitation_create(
    *,
    places: int = 1,
    days: int | None = None,
    note: str = "",
    requester: Requester | None = None,
) -> tuple[Invitation, str]:
    """Create a sign-up code for a number of people and days; it is shown only once."""
    if places < 1 or (days is not None and days < 1):
        raise ValueError("An invitation needs at least one place and one day.")
    code = secrets.token_urlsafe(18)
    expires_at = database_now() + timedelta(days=days) if days is not None else None
    invitation = Invitation.objects.create(
        code_hash=_hash(code), note=note, places=places, expires_at=expires_at, requester=requester
    )
    return invitation, code


def invitation_is_good(*, code: str) -> bool:
    """Tell whether somebody could sign up with this code now."""
    found = Invitation.objects.filter(code_hash=_hash(code)).first()
    return found is not None and _refusal(found, database_now()) is None


@transaction.atomic
def worker_sign_up(
    *,
    username: str,
    password: str,
    email: str = "",
    country: str,
    subdivision: str = "",
    is_adult: bool,
    open_to_all: bool,
    code: str = "",
) -> Worker:
    """Create an account and its worker, who has agreed to the terms. A code loses one place."""
    if code or not open_to_all:
        _place_take(code)
    user = User.objects.create_user(username=username, password=password, email=email)
    return worker_join(user=user, country=country, subdivision=subdivision, is_adult=is_adult)


@transaction.atomic
def worker_join(*, user: User, country: str, subdivision: str = "", is_adult: bool) -> Worker:
    """Make an account's owner, who has agreed to the terms, a worker. Repeating changes nothing."""
    # If two requests come at once, the second waits here and finds the first one's worker.
    User.objects.select_for_update().get(pk=user.pk)
    worker = Worker.objects.filter(user=user).first()
    if worker is not None and worker.consented_at is not None:
        return worker
    worker = worker or Worker(user=user)
    worker.country, worker.subdivision, worker.is_adult = country, subdivision, is_adult
    worker.consented_at = database_now()
    worker.save()
    return worker


@transaction.atomic
def worker_update(*, worker: Worker, country: str, subdivision: str, is_adult: bool) -> None:
    """Change a worker's details about themselves."""
    worker.country, worker.subdivision, worker.is_adult = country, subdivision, is_adult
    worker.save(update_fields=["country", "subdivision", "is_adult"])


@transaction.atomic
def worker_erase(*, worker: Worker) -> None:
    """Erase a worker's identity. Answers and ledger stay under the opaque id.

    An account that also belongs to a researcher or an administrator is kept, but no longer linked.
    """
    open_work = worker.assignments.filter(status=AssignmentStatus.ACCEPTED).order_by("hit")
    # Lock all HITs before any money: returning one may give its requester money back.
    hits = [assignment.hit_id for assignment in open_work]
    list(HIT.objects.select_for_update().filter(pk__in=hits).order_by("pk"))
    for assignment in open_work:
        try:
            assignment_return(assignment=assignment)
        except WorkRefusedError:
            continue  # submitted at this very moment
    worker = Worker.objects.select_for_update(of=("self",), no_key=True).get(pk=worker.pk)
    user = worker.user
    worker.user = None
    worker.country = worker.subdivision = ""
    worker.is_adult = False
    worker.consented_at = None
    worker.erased_at = database_now()
    worker.save()
    Message.objects.filter(worker=worker).delete()
    if user is not None and not _has_other_duties(user):
        try:
            with transaction.atomic():
                user.delete()
        except ProtectedError:
            pass  # something else on this site needs the account; it no longer belongs to a worker


@transaction.atomic
def messages_mark_read(*, worker: Worker, ids: list[int]) -> None:
    """Mark these messages as shown to the worker."""
    Message.objects.filter(worker=worker, pk__in=ids, read_at=None).update(read_at=database_now())


def _has_other_duties(user: User) -> bool:
    return bool(
        user.is_staff or user.is_superuser or user.user_permissions.exists() or user.groups.exists()
    )


def _place_take(code: str) -> None:
    found = Invitation.objects.select_for_update().filter(code_hash=_hash(code)).first()
    refusal = _refusal(found, database_now()) if found else "This invitation does not exist."
    if found is None or refusal:
        raise SignUpRefusedError(refusal or "")
    found.places -= 1
    found.save(update_fields=["places"])


def _refusal(invitation: Invitation, now: datetime) -> str | None:
    if invitation.expires_at is not None and invitation.expires_at <= now:
        return "This invitation has expired."
    if not invitation.places:
        return "All places of this invitation have been used."
    return None


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
