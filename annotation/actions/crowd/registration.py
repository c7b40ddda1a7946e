"""The marketplace's names for what a stage needs there: its qualification and its HIT types."""

from annotation import models


def qualification_type_note(*, supply: models.StageSupply, type_id: str) -> None:
    """Note the qualification type of a stage; the one noted first stays."""
    models.StageSupply.objects.filter(pk=supply.pk, qualification_type_id="").update(
        qualification_type_id=type_id
    )


def hit_type_note(*, terms: models.HitTerms, hit_type_id: str) -> None:
    """Note the HIT type under which the marketplace has registered these terms."""
    models.HitTerms.objects.filter(pk=terms.pk).update(hit_type_id=hit_type_id)
