"""What a recruiter can do. It brings people to the marketplace and is no second crowd interface:
questions, answers and trust go through the marketplace's API, whoever sent the worker."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from annotation import models


class RecruitingError(ValueError):
    """The recruiter could not do it; the message says why in plain words."""


class Link(msgspec.Struct, frozen=True):
    """An address to send to people."""

    url: str
    # Who can come in by it.
    words: str
    places: int | None = None
    until: datetime | None = None


class Duties(msgspec.Struct, frozen=True):
    """What the recruiter has to be told for each worker it sent; all else the marketplace does."""

    # It pays the reward when work is approved.
    approvals: bool = False
    bonuses: bool = False
    # It learns that somebody has finished, as by a completion code.
    completion: bool = False


class Recruiter(Protocol):
    """A place where people are found."""

    @property
    def name(self) -> str: ...

    @property
    def duties(self) -> Duties: ...

    def links(self, campaign: models.Campaign) -> Sequence[Link]:
        """Return what can be sent to people now, without inviting anybody in particular."""
        ...

    def invite(self, *, places: int, days: int, note: str) -> Link:
        """Let so many more people in, within so many days (RecruitingError)."""
        ...
