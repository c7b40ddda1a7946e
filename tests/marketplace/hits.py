"""HITs through the API, as tests make, accept and read them."""

from typing import Any

from marketplace.actions.assignments import (
    assignment_accept,
    assignment_submit,
)
from marketplace.models import HIT, Assignment, Worker
from tests.marketplace.people import EXTERNAL, make_worker

TYPE: dict[str, Any] = {
    "Title": "Name the same thing",
    "Description": "Ten questions",
    "Keywords": "photo, phrase",
    "Reward": "0.50",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 3600,
}
HIT_VALUES: dict[str, Any] = TYPE | {"LifetimeInSeconds": 7200, "Question": EXTERNAL}
LOCALE = "00000000000000000071"
APPROVED = "00000000000000000040"
UNKNOWN = "3UNKNOWNUNKNOWNUNKNOWNUNKNOWNU"


def create(mturk: Any, **changes: Any) -> dict[str, Any]:
    hit: dict[str, Any] = mturk.create_hit(**(HIT_VALUES | changes))["HIT"]
    return hit


def at_least(value: int, type_id: str = APPROVED) -> dict[str, Any]:
    return {
        "QualificationTypeId": type_id,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [value],
    }


def qualification_type(mturk: Any, name: str = "careful", **changes: Any) -> str:
    values = {"Name": name, "Description": "d", "QualificationTypeStatus": "Active"} | changes
    return str(
        mturk.create_qualification_type(**values)["QualificationType"]["QualificationTypeId"]
    )


def accept(hit: dict[str, Any], worker: Worker | None = None) -> Assignment:
    row = HIT.objects.get(hit_id=hit["HITId"])
    return assignment_accept(hit_id=row.pk, worker=worker or make_worker())


def submit(hit: dict[str, Any], worker: Worker | None = None) -> Assignment:
    assignment = accept(hit, worker)
    assignment_submit(assignment=assignment, answer="<QuestionFormAnswers/>")
    return assignment


def get(mturk: Any, hit: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = mturk.get_hit(HITId=hit["HITId"])["HIT"]
    return found


def counters(hit: dict[str, Any]) -> tuple[int, int, int]:
    return (
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsCompleted"],
    )
