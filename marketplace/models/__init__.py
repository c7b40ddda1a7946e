"""The marketplace's tables."""

from marketplace.models.accounts import AccessKey, Invitation, Requester, Worker
from marketplace.models.hits import HIT, Assignment, HITType
from marketplace.models.ledger import Account, AccountKind, Posting, Transaction
from marketplace.models.notices import Event, Message, NotificationSettings
from marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationType,
    TestAttempt,
)
from marketplace.models.relations import BonusPayment, RequestToken, WorkerBlock

__all__ = [
    "HIT",
    "AccessKey",
    "Account",
    "AccountKind",
    "Assignment",
    "BonusPayment",
    "Event",
    "HITType",
    "Invitation",
    "Message",
    "NotificationSettings",
    "Posting",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "RequestToken",
    "Requester",
    "TestAttempt",
    "Transaction",
    "Worker",
    "WorkerBlock",
]
