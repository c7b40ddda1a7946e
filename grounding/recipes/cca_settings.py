"""The settings of recipes that fit a space by CCA."""

from typing import Annotated, Literal

from msgspec import Meta

from grounding.pipeline.text.features import CENTRES
from grounding.recipes.recipe import Settings

AtLeastZero = Annotated[float, Meta(ge=0)]


class CcaSettings(Settings, frozen=True, kw_only=True):
    """How captions are encoded, and what is tried on val.

    Ridges are relative to a side's mean variance, and every ridge of the images is tried with every
    ridge of the text; powers are of the canonical correlations ρ.
    """

    pooling: Annotated[
        Literal["fisher", "mean"],
        Meta(description="encode text as Fisher vectors, or as the mean of its words' vectors"),
    ] = "fisher"
    centres: Annotated[int, Meta(ge=1, description="number of Gaussians of the Fisher vectors")] = (
        CENTRES
    )
    ridges: Annotated[
        tuple[AtLeastZero, ...],
        Meta(
            min_length=1,
            description="ridges to try for each side, relative to its mean variance",
        ),
    ] = (0.01, 0.1, 1.0, 10.0, 100.0)
    powers: Annotated[
        tuple[AtLeastZero, ...],
        Meta(min_length=1, description="powers of the canonical correlations to try"),
    ] = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
    components: Annotated[int, Meta(ge=1, description="dimensions of the space")] = 512
