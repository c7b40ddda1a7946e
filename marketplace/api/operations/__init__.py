"""The 39 operations of the requester API and our own, from validated parameters to an answer."""

from collections.abc import Callable
from typing import Any

from marketplace.api.operations import (
    account,
    assignments,
    hits,
    invitations,
    notifications,
    qualifications,
    workers,
)
from marketplace.models import Requester

Operation = Callable[[Requester, dict[str, Any]], dict[str, Any]]

OPERATIONS: dict[str, Operation] = {
    "AcceptQualificationRequest": qualifications.accept_qualification_request,
    "ApproveAssignment": assignments.approve_assignment,
    "AssociateQualificationWithWorker": qualifications.associate_qualification_with_worker,
    "CreateAdditionalAssignmentsForHIT": hits.create_additional_assignments_for_hit,
    "CreateHIT": hits.create_hit,
    "CreateHITType": hits.create_hit_type,
    "CreateHITWithHITType": hits.create_hit_with_hit_type,
    "CreateQualificationType": qualifications.create_qualification_type,
    "CreateWorkerBlock": workers.create_worker_block,
    "DeleteHIT": hits.delete_hit,
    "DeleteQualificationType": qualifications.delete_qualification_type,
    "DeleteWorkerBlock": workers.delete_worker_block,
    "DisassociateQualificationFromWorker": qualifications.disassociate_qualification_from_worker,
    "GetAccountBalance": account.get_account_balance,
    "GetAssignment": assignments.get_assignment,
    "GetFileUploadURL": assignments.get_file_upload_url,
    "GetHIT": hits.get_hit,
    "GetQualificationScore": qualifications.get_qualification_score,
    "GetQualificationType": qualifications.get_qualification_type,
    "ListAssignmentsForHIT": assignments.list_assignments_for_hit,
    "ListBonusPayments": assignments.list_bonus_payments,
    "ListHITs": hits.list_hits,
    "ListHITsForQualificationType": hits.list_hits_for_qualification_type,
    "ListQualificationRequests": qualifications.list_qualification_requests,
    "ListQualificationTypes": qualifications.list_qualification_types,
    "ListReviewPolicyResultsForHIT": hits.list_review_policy_results_for_hit,
    "ListReviewableHITs": hits.list_reviewable_hits,
    "ListWorkerBlocks": workers.list_worker_blocks,
    "ListWorkersWithQualificationType": qualifications.list_workers_with_qualification_type,
    "NotifyWorkers": workers.notify_workers,
    "RejectAssignment": assignments.reject_assignment,
    "RejectQualificationRequest": qualifications.reject_qualification_request,
    "SendBonus": assignments.send_bonus,
    "SendTestEventNotification": notifications.send_test_event_notification,
    "UpdateExpirationForHIT": hits.update_expiration_for_hit,
    "UpdateHITReviewStatus": hits.update_hit_review_status,
    "UpdateHITTypeOfHIT": hits.update_hit_type_of_hit,
    "UpdateNotificationSettings": notifications.update_notification_settings,
    "UpdateQualificationType": qualifications.update_qualification_type,
}

# Our own operations, under their own prefix.
EXTENSION: dict[str, Operation] = {
    "CreateInvitation": invitations.create_invitation,
    "GetSignUpLink": invitations.get_sign_up_link,
    "ListInvitations": invitations.list_invitations,
}
