"""All six stages with a keyboard alone, in the marketplace's frame."""

import pytest

from annotation.pipeline.protocol.questions import Stage
from tests.browser.kit.desk import Desk
from tests.browser.kit.hands import Keyboard
from tests.browser.kit.scenes import (
    CHOICE_STAGES,
    choice_sitting,
    drawing_sitting,
    quality_sitting,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("stage", CHOICE_STAGES)
def test_a_stage_of_single_answers(desk: Desk, stage: Stage) -> None:
    choice_sitting(desk, Keyboard(desk), stage)


def test_box_quality_with_reasons(desk: Desk) -> None:
    quality_sitting(desk, Keyboard(desk))


def test_box_drawing_by_points_and_by_dragging(desk: Desk) -> None:
    drawing_sitting(desk, Keyboard(desk))
