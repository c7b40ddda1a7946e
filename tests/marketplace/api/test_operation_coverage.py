"""Every operation of the service model, and each error it can give, has a test over HTTP.

The tests declare with `@operation` what they call; conftest.py checks that they really do.
"""

import importlib
import inspect
from pathlib import Path

import pytest

from marketplace.api.operations import OPERATIONS
from marketplace.api.service import service

# Withdrawn with the questions it was for: it never succeeds.
NEVER_SUCCEEDS = {"GetFileUploadURL"}
HIT_OF_CALLER = {"HITDoesNotExist"}
ASSIGNMENT_OF_CALLER = {"AssignmentDoesNotExist"}
TYPE_OF_CALLER = {"QualificationTypeDoesNotExist", "PermissionDeniedException"}
QUESTION = {"XMLParseError", "XHTMLParseError", "HITLayoutDoesNotExist", "InvalidParameterValue"}
# The codes that each operation can give; what breaks the model's own rules is the front's to test.
ERRORS: dict[str, set[str]] = {
    "AcceptQualificationRequest": {
        "QualificationRequestDoesNotExist",
        "InvalidQualificationRequestState",
    },
    "ApproveAssignment": ASSIGNMENT_OF_CALLER | {"InvalidAssignmentState", "InsufficientFunds"},
    "AssociateQualificationWithWorker": TYPE_OF_CALLER
    | {"WorkerDoesNotExist", "InvalidQualificationTypeState"},
    "CreateAdditionalAssignmentsForHIT": HIT_OF_CALLER
    | {
        "InvalidHITState",
        "InvalidMaximumAssignmentsIncrease",
        "InsufficientFunds",
        "DuplicateRequest",
        "InvalidParameterValue",
    },
    "CreateHIT": QUESTION
    | {
        "HitAlreadyExists",
        "InsufficientFunds",
        "QualificationTypeDoesNotExist",
        "InvalidQualificationTypeState",
    },
    "CreateHITType": {
        "QualificationTypeDoesNotExist",
        "InvalidQualificationTypeState",
        "InvalidParameterValue",
    },
    "CreateHITWithHITType": QUESTION
    | {"HitAlreadyExists", "InsufficientFunds", "InvalidQualificationTypeState"},
    "CreateQualificationType": {
        "QualificationTypeAlreadyExists",
        "InvalidParameterValue",
        "XMLParseError",
        "XHTMLParseError",
    },
    "CreateWorkerBlock": {"WorkerDoesNotExist"},
    "DeleteHIT": HIT_OF_CALLER | {"InvalidHITState"},
    "DeleteQualificationType": TYPE_OF_CALLER | {"InvalidQualificationTypeState"},
    "DeleteWorkerBlock": {"WorkerDoesNotExist"},
    "DisassociateQualificationFromWorker": TYPE_OF_CALLER
    | {"WorkerDoesNotExist", "QualificationDoesNotExist", "InvalidQualificationState"},
    "GetAccountBalance": set(),
    "GetAssignment": ASSIGNMENT_OF_CALLER | {"InvalidAssignmentState"},
    "GetFileUploadURL": ASSIGNMENT_OF_CALLER | {"InvalidParameterValue"},
    "GetHIT": HIT_OF_CALLER,
    "GetQualificationScore": {"QualificationDoesNotExist", "InvalidQualificationState"},
    "GetQualificationType": {"QualificationTypeDoesNotExist", "InvalidQualificationTypeState"},
    "ListAssignmentsForHIT": HIT_OF_CALLER,
    "ListBonusPayments": HIT_OF_CALLER | ASSIGNMENT_OF_CALLER | {"InvalidParameterValue"},
    "ListHITs": {"InvalidParameterValue"},
    "ListHITsForQualificationType": {"QualificationTypeDoesNotExist"},
    "ListQualificationRequests": TYPE_OF_CALLER | {"InvalidParameterValue"},
    "ListQualificationTypes": {"InvalidParameterValue"},
    "ListReviewPolicyResultsForHIT": HIT_OF_CALLER,
    "ListReviewableHITs": {"InvalidParameterValue"},
    "ListWorkerBlocks": set(),
    "ListWorkersWithQualificationType": TYPE_OF_CALLER | {"InvalidParameterValue"},
    "NotifyWorkers": set(),
    "RejectAssignment": ASSIGNMENT_OF_CALLER | {"InvalidAssignmentState"},
    "RejectQualificationRequest": {
        "QualificationRequestDoesNotExist",
        "InvalidQualificationRequestState",
    },
    "SendBonus": ASSIGNMENT_OF_CALLER
    | {"WorkerDoesNotExist", "InvalidParameterValue", "InsufficientFunds", "DuplicateRequest"},
    "SendTestEventNotification": {"InvalidTransportEndpoint", "InvalidParameterValue"},
    "UpdateExpirationForHIT": HIT_OF_CALLER | {"InvalidHITState", "InsufficientFunds"},
    "UpdateHITReviewStatus": HIT_OF_CALLER | {"InvalidHITState"},
    "UpdateHITTypeOfHIT": HIT_OF_CALLER
    | {
        "InvalidHITState",
        "InvalidParameterValue",
        "InsufficientFunds",
        "InvalidQualificationTypeState",
    },
    "UpdateNotificationSettings": {"InvalidTransportEndpoint", "InvalidParameterValue"},
    "UpdateQualificationType": TYPE_OF_CALLER
    | {
        "InvalidQualificationTypeState",
        "InvalidParameterValue",
        "XMLParseError",
        "XHTMLParseError",
    },
}


def driven() -> set[tuple[str, str | None]]:
    """Return what the tests claim to call: operations with an error code, or None for success."""
    found: set[tuple[str, str | None]] = set()
    for file in sorted(Path(__file__).parent.glob("test_operations_*.py")):
        module = importlib.import_module(f"tests.marketplace.api.{file.stem}")
        for name, test in inspect.getmembers(module, inspect.isfunction):
            for mark in getattr(test, "pytestmark", []) if name.startswith("test_") else []:
                if mark.name == "operation":
                    # A test without a client would not be held to what it says.
                    assert {"mturk", "client_for"} & set(inspect.signature(test).parameters), name
                    operation, *codes = mark.args
                    found |= {(operation, code) for code in codes or [None]}
    return found


def test_the_table_is_the_service_models() -> None:
    assert set(service().operation_names) == set(OPERATIONS) == set(ERRORS)
    assert len(OPERATIONS) == 39


@pytest.mark.parametrize("operation", sorted(service().operation_names))
def test_every_operation_has_its_tests(operation: str) -> None:
    wanted: set[tuple[str, str | None]] = {(operation, code) for code in ERRORS[operation]}
    if operation not in NEVER_SUCCEEDS:
        wanted.add((operation, None))
    assert wanted <= driven()


def test_no_test_claims_more_than_the_table_knows() -> None:
    known = {(name, code) for name, codes in ERRORS.items() for code in codes}
    assert {one for one in driven() if one[1] is not None} <= known
