"""The tables. Facts and settings are append-only; the state tables can be rebuilt from facts."""

from annotation.models.campaigns import Campaign, CampaignSettings
from annotation.models.corpus import AnswerKey, Caption, Image, Mention
from annotation.models.facts import Fact
from annotation.models.guides import CONSENT, Guide
from annotation.models.people import Worker
from annotation.models.sittings import (
    Consent,
    Sitting,
    SittingKind,
    SittingQuestion,
    SittingStatus,
)
from annotation.models.state import Box, Chain, ImageStatus, OpenQuestion, StoredState

__all__ = [
    "CONSENT",
    "AnswerKey",
    "Box",
    "Campaign",
    "CampaignSettings",
    "Caption",
    "Chain",
    "Consent",
    "Fact",
    "Guide",
    "Image",
    "ImageStatus",
    "Mention",
    "OpenQuestion",
    "Sitting",
    "SittingKind",
    "SittingQuestion",
    "SittingStatus",
    "StoredState",
    "Worker",
]
