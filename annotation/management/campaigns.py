"""Finding the campaign that a command's --campaign names."""

from django.core.management.base import CommandError

from annotation.models import Campaign


def campaign_named(name: str) -> Campaign:
    """Return the campaign; if no campaign has that name, raise an error that lists them."""
    campaign = Campaign.objects.select_related("current_settings").filter(name=name).first()
    if campaign is not None:
        return campaign
    known = ", ".join(Campaign.objects.order_by("name").values_list("name", flat=True)[:20])
    hint = f"there are: {known}" if known else "there is none yet. corpus_import makes one"
    raise CommandError(f"There is no campaign {name!r}; {hint}.")
