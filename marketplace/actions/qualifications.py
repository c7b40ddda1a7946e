"""Qualification types (create, change, dispose) and qualifications (grant, revoke)."""

from typing import Any

import msgspec
from django.db import IntegrityError, transaction

from common.clock import database_now
from marketplace.models import (
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules.errors import RequestError, invalid_state
from marketplace.rules.questions import parse_answer_key, parse_test

DEFAULT_VALUE = 1


class TypeChange(msgspec.Struct, frozen=True):
    """A caller's values for a qualification type; None leaves a value unchanged."""

    description: str | None = None
    is_active: bool | None = None
    retry_delay: int | None = None
    test: str | None = None
    test_duration: int | None = None
    answer_key: str | None = None
    auto_granted: bool | None = None
    auto_granted_value: int | None = None


@transaction.atomic
def qualification_type_create(
    *, requester: Requester, name: str, keywords: str, given: TypeChange
) -> QualificationType:
    """Create a qualification type; the requester must not have another one with its name."""
    made = QualificationType(
        requester=requester, name=name, keywords=keywords, created_at=database_now()
    )
    _apply(made, given)
    try:
        with transaction.atomic():
            made.save()
    except IntegrityError:
        raise RequestError(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name. A QualificationType's "
            "name must be unique among all of the QualificationTypes created by the same user.",
        ) from None
    return made


@transaction.atomic
def qualification_type_update(
    *, qualification_type: QualificationType, given: TypeChange
) -> QualificationType:
    """Change the given values. A test can be replaced, but not removed."""
    changed = _lock(qualification_type)
    _apply(changed, given)
    changed.save()
    return changed


@transaction.atomic
def qualification_type_dispose(*, qualification_type: QualificationType) -> None:
    """Dispose of a type. Granted qualifications stay; pending requests are rejected."""
    ended = _lock(qualification_type)
    ended.disposed_at = database_now()
    ended.save(update_fields=["disposed_at"])
    ended.requests.filter(status=QualificationRequest.PENDING).update(
        status=QualificationRequest.REJECTED, reason="The qualification is no longer offered."
    )


@transaction.atomic
def qualification_assign(
    *, qualification_type: QualificationType, worker: Worker, value: int | None, notify: bool
) -> None:
    """Grant a worker a qualification by hand, or change the value of one they hold."""
    granted = _lock(qualification_type)
    if not granted.is_active:
        raise invalid_state("QualificationType", "Active")
    qualification_grant(
        qualification_type=granted, worker=worker, value=DEFAULT_VALUE if value is None else value
    )
    if notify:
        Message.objects.create(
            worker=worker,
            requester=granted.requester,
            subject=f"Qualification: {granted.name}"[:200],
            text=f"You have been given the qualification “{granted.name}”.",
        )


def qualification_grant(
    *, qualification_type: QualificationType, worker: Worker, value: int
) -> Qualification:
    """Set a worker's value, in the caller's transaction."""
    return Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "is_granted": True, "reason": "", "granted_at": database_now()},
    )[0]


@transaction.atomic
def qualification_revoke(
    *, qualification_type: QualificationType, worker: Worker, reason: str
) -> None:
    """Revoke a qualification; the worker sees the reason."""
    held = (
        Qualification.objects.select_for_update()
        .filter(qualification_type=qualification_type, worker=worker)
        .first()
    )
    if held is None:
        raise qualification_missing()
    if not held.is_granted:
        raise invalid_state("Qualification", "Granted")
    held.is_granted = False
    held.reason = reason
    held.save(update_fields=["is_granted", "reason"])


def qualification_missing() -> RequestError:
    return RequestError(
        "QualificationDoesNotExist", "You requested a Qualification that does not exist."
    )


def _apply(changed: QualificationType, given: TypeChange) -> None:
    """Set the given values, and refuse values that conflict."""
    plain: dict[str, Any] = {
        "description": given.description,
        "is_active": given.is_active,
        "retry_delay": given.retry_delay,
        "auto_granted": given.auto_granted,
        "auto_granted_value": given.auto_granted_value,
    }
    for name, value in plain.items():
        if value is not None:
            setattr(changed, name, value)
    if given.test is not None:
        if given.test_duration is None:
            raise _together("a Test needs a TestDurationInSeconds")
        test = parse_test(given.test)
        if given.answer_key is not None:
            parse_answer_key(given.answer_key, test)
        changed.test = given.test
        changed.test_duration = given.test_duration
        changed.answer_key = given.answer_key or ""
    elif given.answer_key is not None or given.test_duration is not None:
        raise _together("an AnswerKey or a TestDurationInSeconds needs its Test")
    if changed.auto_granted and changed.test:
        raise _together("a type with a Test cannot be AutoGranted")
    if not changed.auto_granted:
        changed.auto_granted_value = None
    elif changed.auto_granted_value is None:
        changed.auto_granted_value = DEFAULT_VALUE


def _together(reason: str) -> RequestError:
    return RequestError("InvalidParameterValue", f"These parameters do not fit: {reason}.")


def _lock(qualification_type: QualificationType) -> QualificationType:
    locked = (
        QualificationType.objects.select_for_update(of=("self",), no_key=True)
        .select_related("requester")
        .get(pk=qualification_type.pk)
    )
    if locked.disposed_at is not None:
        raise invalid_state("QualificationType", "Active,Inactive")
    return locked
