"""The state machine of the engine's unit tests, for longer."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.unit.test_engine_machine import Image


@pytest.mark.slow
def test_many_images_to_which_anything_happens() -> None:
    run_state_machine_as_test(
        Image,
        settings=settings(
            max_examples=200,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
