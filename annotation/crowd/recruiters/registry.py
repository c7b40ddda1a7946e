"""All recruiters; the setting CHAINBOX_RECRUITER names the one in use."""

from collections.abc import Callable

from django.conf import settings

from annotation.crowd.recruiters.marketplace import marketplace_recruiter
from annotation.crowd.recruiters.recruiter import Recruiter, RecruitingError

# Each is made from its own settings when it is first needed (RecruitingError).
RECRUITERS: dict[str, Callable[[], Recruiter]] = {
    "marketplace": marketplace_recruiter,
}


def recruiter() -> Recruiter:
    """Return the recruiter in use (RecruitingError)."""
    make = RECRUITERS.get(settings.CHAINBOX_RECRUITER)
    if make is None:
        raise RecruitingError(
            f"There is no recruiter {settings.CHAINBOX_RECRUITER!r}. Set CHAINBOX_RECRUITER to one "
            f"of these: {', '.join(RECRUITERS)}."
        )
    return make()
