"""The tables. Facts and settings are append-only; the state tables can be rebuilt from facts."""

from annotation.models.campaigns import Campaign, CampaignSettings
from annotation.models.corpus import AnswerKey, Caption, Image, Mention
from annotation.models.estimates import EstimateStatus, StoredEstimate
from annotation.models.facts import Fact
from annotation.models.gold import GoldQuestion
from annotation.models.guides import CONSENT, Guide
from annotation.models.hits import (
    Assignment,
    AssignmentStatus,
    Hit,
    HitStatus,
    HitTerms,
    Payment,
    PaymentKind,
    StageSupply,
    SupplyStatus,
)
from annotation.models.outbox import CallStatus, Operation, OutboxCall
from annotation.models.people import Worker
from annotation.models.sittings import (
    Consent,
    Sitting,
    SittingKind,
    SittingQuestion,
    SittingStatus,
)
from annotation.models.state import Box, Chain, ImageStatus, OpenQuestion, StoredState
from annotation.models.trust import Appeal, PendingDoubt, TrustEvent, WorkerStanding

__all__ = [
    "CONSENT",
    "AnswerKey",
    "Appeal",
    "Assignment",
    "AssignmentStatus",
    "Box",
    "CallStatus",
    "Campaign",
    "CampaignSettings",
    "Caption",
    "Chain",
    "Consent",
    "EstimateStatus",
    "Fact",
    "GoldQuestion",
    "Guide",
    "Hit",
    "HitStatus",
    "HitTerms",
    "Image",
    "ImageStatus",
    "Mention",
    "OpenQuestion",
    "Operation",
    "OutboxCall",
    "Payment",
    "PaymentKind",
    "PendingDoubt",
    "Sitting",
    "SittingKind",
    "SittingQuestion",
    "SittingStatus",
    "StageSupply",
    "StoredEstimate",
    "StoredState",
    "SupplyStatus",
    "TrustEvent",
    "Worker",
    "WorkerStanding",
]
