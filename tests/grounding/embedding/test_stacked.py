"""Stacked auxiliary embedding."""

import numpy
import pytest

from grounding.pipeline.embedding.cca import fit
from grounding.pipeline.embedding.covariances import gather
from grounding.pipeline.embedding.stacked import stacking_of
from grounding.pipeline.evaluation.distances import ImageSentenceDistances
from grounding.pipeline.evaluation.ranks import rank_both_ways, recall


def test_a_stack_is_the_features_and_their_projection() -> None:
    random = numpy.random.default_rng(0)
    x, y = random.standard_normal((50, 6)), random.standard_normal((50, 4))
    space = fit(gather([(x, y)]), ridge_x=0.1, ridge_y=0.1)
    stacking = stacking_of(space, 1.0, x, y, share=0.5)
    stack = stacking.stack_x(x)
    assert stack.shape == (50, 10)
    assert numpy.allclose(stack[:, :6], x, atol=1e-6)
    assert numpy.allclose(stack[:, 6:], stacking.scale_x * space.project_x(x, 1.0), atol=1e-5)
    assert stack[:, 6:].var(axis=0).sum() == pytest.approx(0.5 * x.var(axis=0).sum(), rel=1e-4)
    assert stacking.stack_y(y).shape == (50, 8)
    with pytest.raises(ValueError, match="leave nothing"):
        stacking_of(space, 1.0, x, y, share=0)


def test_auxiliary_pairs_help_where_own_pairs_are_few() -> None:
    """The two tasks share their hidden causes; 60 own pairs are too few to find them."""
    random = numpy.random.default_rng(1)
    mix_x, mix_y = random.standard_normal((8, 60)), random.standard_normal((8, 50))

    def pairs(count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        hidden = random.standard_normal((count, 8))
        x = hidden @ mix_x + 2 * random.standard_normal((count, 60))
        return x, hidden @ mix_y + 2 * random.standard_normal((count, 50))

    auxiliary, own, test = pairs(5000), pairs(60), pairs(300)
    space = fit(gather([auxiliary]), ridge_x=0.1, ridge_y=0.1, components=8)
    stacking = stacking_of(space, 1.0, *own)

    def found(own: tuple[numpy.ndarray, ...], test: tuple[numpy.ndarray, ...]) -> float:
        fitted = fit(gather([(own[0], own[1])]), ridge_x=0.5, ridge_y=0.5)
        distances = ImageSentenceDistances(
            fitted.project_x(test[0], 1.0), fitted.project_y(test[1], 1.0)
        )
        return recall(rank_both_ways(distances, range(300)).sentence_to_image, 10)

    plain = found(own, test)
    stacked = found(*((stacking.stack_x(x), stacking.stack_y(y)) for x, y in (own, test)))
    assert stacked > plain + 10
