"""A HIT's description and pay: the parameters of MTurk's CreateHITType, in words for workers."""

import hashlib
from typing import Any

import msgspec

from annotation.pipeline.crowd.money import campaign_fees, dollars, hit_cost
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.guides import StageGuide

# A placeholder for the stage's qualification: the marketplace assigns its id on first use.
QUALIFICATION = "{qualification}"
# Values of that qualification. The marketplace decides by them which HITs a worker sees.
REVOKED_VALUE, PROBATION_VALUE, TRUSTED_VALUE = 0, 50, 100

# MTurk's limits, in characters and seconds.
TITLE_LENGTH, DESCRIPTION_LENGTH = 128, 2000
LEAST_SECONDS, MOST_SECONDS = 30, 31_536_000

# The marketplace's own measures of a worker.
HITS_APPROVED = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"

# Workers see only HITs that they may accept.
_HIDDEN = "DiscoverPreviewAndAccept"


class Terms(msgspec.Struct, frozen=True):
    """One set of terms; equal terms have equal digests."""

    # The parameters of CreateHITType, as JSON.
    body: str
    reward_cents: int
    # With the marketplace's fee.
    cost_cents: int
    # The addresses of the task pages and of notifications. They are part of the digest, so a site
    # that has moved publishes its HITs again.
    addresses: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        # The marketplace is not told the fee, but the money held for the HIT includes it.
        parts = (str(self.cost_cents), *self.addresses, self.body)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def qualification_name(campaign: str, stage: Stage) -> str:
    """Return the name of the qualification that trusted workers of a stage hold."""
    return f"Chainbox: {campaign} – {stage.value}"


def terms_of_work(
    campaign: str, stage: Stage, guide: StageGuide, settings: Settings, *, proven: bool = True
) -> Terms:
    """Return the terms of a HIT with questions of the stage.

    `proven`: the marketplace proves that workers have accepted the HIT, so questions stay
    reserved longer.
    """
    count = settings.questions_per_hit[stage]
    price = settings.crowd.price_cents[stage]
    pay = (
        f"It pays {dollars(price)}, even if there are fewer questions"
        if price
        else "It pays nothing: the work is voluntary"
    )
    seconds = count * spec_of(stage).seconds_per_question
    description = (
        f"You look at photos with captions and answer up to {_questions(count)}: "
        f"{_asked(guide)} {pay}. "
        f"Most people take about {_about(seconds)} for all of them. "
        f"Once you start, the questions are reserved for you for {_kept(settings, proven)}."
    )
    title = f"{guide.title} (up to {_questions(count)} about photos)"
    holders = {
        "QualificationTypeId": QUALIFICATION,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [1],
        "ActionsGuarded": _HIDDEN,
    }
    return _terms(campaign, stage, title, description, price, holders, settings)


def _kept(settings: Settings, proven: bool) -> str:
    longest = _about(settings.sitting_seconds)
    minutes = 60 * settings.crowd.unproven_minutes
    if proven or minutes >= settings.sitting_seconds:
        return longest
    return f"{_about(minutes)} after each answer, and {longest} at most"


def terms_of_test(campaign: str, stage: Stage, guide: StageGuide, settings: Settings) -> Terms:
    """Return the terms of a stage's qualification test."""
    crowd = settings.crowd
    count = len(guide.test)
    pay = (
        f"The test pays {dollars(crowd.test_price_cents)}, whether or not you pass"
        if crowd.test_price_cents
        else "The test itself pays nothing"
    )
    price = crowd.price_cents[stage]
    after = f" pay {dollars(price)} each" if price else " are voluntary"
    tries = "once" if crowd.test_tries == 1 else f"up to {crowd.test_tries} times"
    description = (
        f"A test of {_questions(count)} about photos with captions: {_asked(guide)} "
        f"Answer {settings.minimum_performance[stage]:.0%} of them correctly and you can accept "
        f"HITs of this kind, which{after}. {pay}. You can take it {tries}. "
        f"Most people take about {_about(count * spec_of(stage).seconds_per_question)}."
    )
    title = f"Test: {guide.title} ({_questions(count)} about photos)"
    newcomers = {
        "QualificationTypeId": QUALIFICATION,
        "Comparator": "DoesNotExist",
        "ActionsGuarded": _HIDDEN,
    }
    return _terms(campaign, stage, title, description, crowd.test_price_cents, newcomers, settings)


def _terms(
    campaign: str,
    stage: Stage,
    title: str,
    description: str,
    reward_cents: int,
    requirement: dict[str, Any],
    settings: Settings,
) -> Terms:
    crowd = settings.crowd
    # Twice as long as questions are reserved, so that workers who are a little late can submit.
    seconds = min(max(2 * settings.sitting_seconds, LEAST_SECONDS), MOST_SECONDS)
    body = {
        "Title": _cut(title, TITLE_LENGTH),
        "Description": _cut(f"{description} (Study: {campaign}.)", DESCRIPTION_LENGTH),
        "Keywords": f"photos, captions, {spec_of(stage).keywords}",
        "Reward": f"{reward_cents // 100}.{reward_cents % 100:02d}",
        "AssignmentDurationInSeconds": seconds,
        "AutoApprovalDelayInSeconds": crowd.auto_approval_hours * 3600,
        "QualificationRequirements": [requirement, *_platform_record(settings)],
    }
    return Terms(
        body=msgspec.json.encode(body).decode(),
        reward_cents=reward_cents,
        cost_cents=hit_cost(reward_cents, campaign_fees(settings)),
    )


def _platform_record(settings: Settings) -> list[dict[str, Any]]:
    wanted = (
        (HITS_APPROVED, settings.crowd.platform_hits),
        (PERCENT_APPROVED, settings.crowd.platform_percent),
    )
    return [
        {
            "QualificationTypeId": type_id,
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [least],
            "ActionsGuarded": "Accept",
        }
        for type_id, least in wanted
        if least
    ]


def _asked(guide: StageGuide) -> str:
    """Return the stage's question with “a phrase” in place of the actual phrase."""
    question = guide.question.replace("“{phrase}”", "a phrase").replace("{phrase}", "a phrase")
    return f"“{question}”"


def _questions(count: int) -> str:
    return "1 question" if count == 1 else f"{count} questions"


def _about(seconds: float) -> str:
    """Write a time for people to read, rounded up.

    >>> _about(75), _about(61), _about(45), _about(3600), _about(7201)
    ('2 minutes', '2 minutes', '1 minute', '1 hour', '2 hours and 1 minute')
    """
    hours, minutes = divmod(-(-seconds // 60), 60)
    parts = [
        f"{int(number)} {unit}{'' if number == 1 else 's'}"
        for number, unit in ((hours, "hour"), (minutes, "minute"))
        if number
    ]
    return " and ".join(parts)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
