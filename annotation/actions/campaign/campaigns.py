"""Making campaigns and changing their settings."""

from typing import Any

import msgspec
from django.db import transaction

from annotation.models import Campaign, CampaignSettings
from annotation.pipeline.protocol.settings import Settings, settings_problem
from common.files.plain_errors import plain_error


class CampaignError(ValueError):
    """The campaign cannot be made or changed like this."""


@transaction.atomic
def campaign_create(*, name: str, settings: Settings | None = None) -> Campaign:
    """Make a campaign with its first settings; the paper's numbers if none are given."""
    if not name.strip() or name != name.strip() or len(name) > 100:
        raise CampaignError(
            "a campaign's name must have 1 to 100 characters and no space at either end"
        )
    if Campaign.objects.filter(name=name).exists():
        raise CampaignError(f"there is already a campaign {name!r}")
    campaign = Campaign.objects.create(name=name)
    _settings_append(campaign, msgspec.structs.replace(settings or Settings(), version=1))
    return campaign


@transaction.atomic
def campaign_settings_change(*, campaign: Campaign, **changes: Any) -> Settings:
    """Give the campaign a new version of its settings; old facts keep folding under theirs."""
    campaign = (
        Campaign.objects.select_for_update(of=("self",))
        .select_related("current_settings")
        .get(pk=campaign.pk)
    )
    current = campaign.settings
    values = msgspec.to_builtins(current) | changes | {"version": current.version + 1}
    try:
        changed = msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        raise CampaignError(
            f"these settings are not valid: {plain_error(error, Settings)}"
        ) from None
    problem = settings_problem(changed)
    if problem:
        raise CampaignError(f"these settings are not valid: {problem}")
    _settings_append(campaign, changed)
    return changed


def _settings_append(campaign: Campaign, settings: Settings) -> None:
    campaign.current_settings = CampaignSettings.objects.create(
        campaign=campaign,
        version=settings.version,
        body=msgspec.json.encode(settings).decode(),
    )
    campaign.save(update_fields=["current_settings"])
