"""Answers that reached the marketplace but not us: its form contains them too."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import msgspec
from django.db import transaction
from msgspec.structs import replace

from annotation import models
from annotation.actions.work.answers import answers_put
from annotation.actions.work.leases import sittings_lapse
from annotation.actions.work.sittings import SittingRefusedError
from annotation.models import SittingStatus
from annotation.pipeline.work.answers import Answer


class _FormAnswer(Answer, frozen=True, kw_only=True):
    """An answer as strict as from the page itself: anybody can send the marketplace a form."""

    number: Annotated[int, msgspec.Meta(ge=0, le=10_000)]
    milliseconds: Annotated[int, msgspec.Meta(ge=0, le=86_400_000)] = 0


# As much as the page itself may send.
LONGEST_FORM = 256 * 1024

_decode = msgspec.json.Decoder(tuple[_FormAnswer, ...])


def sitting_recover(
    *, hit: models.Hit, proof: str, fields: Mapping[str, str], submitted_at: datetime
) -> models.Sitting | None:
    """Finish a sitting with the answers of the marketplace's form; None if they do not fit.

    Only answers that the worker's own page could have submitted are taken, and answers already
    submitted to us take precedence.
    """
    number = fields.get("sitting", "")
    if not number.isdecimal() or len(number) > 18:
        return None
    # Before the sitting is locked: nobody should wait while a form is parsed.
    return _recover(hit, proof, int(number), _answers(fields.get("answers", "")), submitted_at)


def _answers(text: str) -> tuple[_FormAnswer, ...] | None:
    if len(text) > LONGEST_FORM:
        return None
    try:
        return _decode.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


@transaction.atomic
def _recover(
    hit: models.Hit,
    proof: str,
    number: int,
    given: tuple[_FormAnswer, ...] | None,
    submitted_at: datetime,
) -> models.Sitting | None:
    sitting = (
        models.Sitting.objects.select_for_update(of=("self",))
        .select_related("campaign__current_settings", "worker", "guide")
        .filter(pk=number, proof=proof)
        .filter(campaign=hit.campaign_id, stage=hit.stage, kind=hit.kind)
        .first()
    )
    if sitting is None or sitting.status == SittingStatus.FINISHED:
        return sitting
    if given is None:
        return None
    # Comments are never in the form.
    answers = {one.number: replace(one, comment="") for one in given}
    others = models.Sitting.objects.filter(proof=proof).exclude(pk=sitting.pk)
    sittings_lapse(sittings=others)
    try:
        answers_put(sitting=sitting, answers=answers, now=submitted_at)
    except SittingRefusedError:
        return None
    return sitting
