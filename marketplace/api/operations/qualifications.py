"""Operations on qualification types, qualifications and requests for them."""

from typing import Any

from django.db.models import Q, QuerySet

from marketplace.actions.qualifications import (
    TypeChange,
    qualification_assign,
    qualification_missing,
    qualification_revoke,
    qualification_type_create,
    qualification_type_dispose,
    qualification_type_update,
)
from marketplace.actions.requests import request_accept, request_reject
from marketplace.api.operations import present
from marketplace.api.operations.paging import listing, page_size, read_token, write_token
from marketplace.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
)
from marketplace.rules.errors import invalid_state
from marketplace.rules.qualifications import SYSTEM_TYPES
from marketplace.selectors.owned import (
    own_qualification_type,
    own_request,
    qualification_type_named,
    worker_named,
)


def create_qualification_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    made = qualification_type_create(
        requester=caller,
        name=params["Name"],
        keywords=params.get("Keywords", ""),
        given=_type_change(params),
    )
    return {"QualificationType": present.qualification_type(made, caller)}


def update_qualification_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    changed = qualification_type_update(
        qualification_type=own_qualification_type(caller, params["QualificationTypeId"]),
        given=_type_change(params),
    )
    return {"QualificationType": present.qualification_type(changed, caller)}


def delete_qualification_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    qualification_type_dispose(
        qualification_type=own_qualification_type(caller, params["QualificationTypeId"])
    )
    return {}


def get_qualification_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    type_id = params["QualificationTypeId"]
    if type_id in SYSTEM_TYPES:
        return {"QualificationType": present.system_type(type_id)}
    found = qualification_type_named(caller, type_id)
    return {"QualificationType": present.qualification_type(found, caller)}


def list_qualification_types(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """List the system's types first, then everybody's in the order they were made.

    The system's types have no rows; in tokens they have the numbers below zero.
    """
    operation = "ListQualificationTypes"
    after = read_token(caller, operation, params)
    start = int(after[0]) if after else -len(SYSTEM_TYPES) - 1
    words = params.get("Query", "").split()
    found: list[tuple[int, dict[str, Any]]] = []
    if not params["MustBeRequestable"] and not params.get("MustBeOwnedByCaller"):
        for number, type_id in enumerate(SYSTEM_TYPES, start=-len(SYSTEM_TYPES)):
            shown = present.system_type(type_id)
            text = f"{shown['Name']} {shown['Description']}".lower()
            if number > start and all(word.lower() in text for word in words):
                found.append((number, shown))
    rows = _listed_types(caller, params, words).filter(pk__gt=start).order_by("pk")
    found += [
        (row.pk, present.qualification_type(row, caller)) for row in rows[: page_size(params)]
    ]
    page = found[: page_size(params)]
    answer: dict[str, Any] = {
        "NumResults": len(page),
        "QualificationTypes": [shown for _, shown in page],
    }
    if page:
        answer["NextToken"] = write_token(caller, operation, params, [page[-1][0]])
    return answer


def associate_qualification_with_worker(
    caller: Requester, params: dict[str, Any]
) -> dict[str, Any]:
    qualification_assign(
        qualification_type=own_qualification_type(caller, params["QualificationTypeId"]),
        worker=worker_named(params["WorkerId"]),
        value=params.get("IntegerValue"),
        notify=params.get("SendNotification", True),
    )
    return {}


def disassociate_qualification_from_worker(
    caller: Requester, params: dict[str, Any]
) -> dict[str, Any]:
    qualification_revoke(
        qualification_type=own_qualification_type(caller, params["QualificationTypeId"]),
        worker=worker_named(params["WorkerId"]),
        reason=params.get("Reason", ""),
    )
    return {}


def get_qualification_score(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """Return a worker's value for one of the caller's types; other types count as not held."""
    held = (
        Qualification.objects.filter(
            qualification_type__requester=caller,
            qualification_type__qualification_type_id=params["QualificationTypeId"],
            worker__worker_id=params["WorkerId"],
        )
        .select_related("worker")
        .first()
    )
    if held is None:
        raise qualification_missing()
    if not held.is_granted:
        raise invalid_state("Qualification", "Granted")
    return {"Qualification": present.qualification(held, params["QualificationTypeId"])}


def list_workers_with_qualification_type(
    caller: Requester, params: dict[str, Any]
) -> dict[str, Any]:
    kind = own_qualification_type(caller, params["QualificationTypeId"])
    rows = kind.qualifications.filter(
        is_granted=params.get("Status", "Granted") == "Granted"
    ).select_related("worker")
    page, answer = listing(caller, "ListWorkersWithQualificationType", params, rows)
    shown = [present.qualification(row, kind.qualification_type_id) for row in page]
    return answer | {"Qualifications": shown}


def list_qualification_requests(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=caller, status=QualificationRequest.PENDING
    ).select_related("worker", "qualification_type")
    if "QualificationTypeId" in params:
        rows = rows.filter(
            qualification_type=own_qualification_type(caller, params["QualificationTypeId"])
        )
    page, answer = listing(caller, "ListQualificationRequests", params, rows)
    return answer | {"QualificationRequests": [present.qualification_request(r) for r in page]}


def accept_qualification_request(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    request_accept(
        request=own_request(caller, params["QualificationRequestId"]),
        value=params.get("IntegerValue"),
    )
    return {}


def reject_qualification_request(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    request_reject(
        request=own_request(caller, params["QualificationRequestId"]),
        reason=params.get("Reason", ""),
    )
    return {}


def _type_change(params: dict[str, Any]) -> TypeChange:
    status = params.get("QualificationTypeStatus")
    return TypeChange(
        description=params.get("Description"),
        is_active=None if status is None else status == "Active",
        retry_delay=params.get("RetryDelayInSeconds"),
        test=params.get("Test"),
        test_duration=params.get("TestDurationInSeconds"),
        answer_key=params.get("AnswerKey"),
        auto_granted=params.get("AutoGranted"),
        auto_granted_value=params.get("AutoGrantedValue"),
    )


def _listed_types(
    caller: Requester, params: dict[str, Any], words: list[str]
) -> QuerySet[QualificationType]:
    rows = QualificationType.objects.filter(disposed_at=None)
    if params.get("MustBeOwnedByCaller"):
        rows = rows.filter(requester=caller)
    else:
        rows = rows.filter(Q(requester=caller) | Q(is_active=True))
    if params["MustBeRequestable"]:
        rows = rows.filter(is_active=True)
    for word in words:
        rows = rows.filter(
            Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word)
        )
    return rows
