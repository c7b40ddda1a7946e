"""The interface of every recruiter.

A recruiter brings people to the marketplace. It is not a second crowd interface: questions,
answers, trust and pay go through the marketplace's API for all workers. A new recruiter needs a
module here, a line in `registry`, and its settings.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from annotation import models


class RecruitingError(ValueError):
    """The recruiter failed; the message explains why in plain words."""


class Link(msgspec.Struct, frozen=True):
    """An address to send to people, with its limits, if any, on their number and the time."""

    url: str
    places: int | None = None
    until: datetime | None = None


class Invitation(msgspec.Struct, frozen=True):
    """An invitation made earlier. Its link was shown once, when it was made."""

    places_left: int
    expiration: datetime | None = None
    note: str = ""


class Recruiter(Protocol):
    """A source of workers."""

    @property
    def name(self) -> str: ...

    def links(self, campaign: models.Campaign) -> Sequence[Link]:
        """Return the links that anybody may use now; none if people need an invitation."""
        ...

    def invite(self, campaign: models.Campaign, *, places: int, days: int, note: str) -> Link:
        """Let this many more people in, within this many days (RecruitingError)."""
        ...

    def invitations(self) -> Sequence[Invitation]:
        """Return the invitations made so far, newest first (RecruitingError)."""
        ...
