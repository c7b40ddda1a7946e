"""What tests of the task pages share: a desk to work at, hands to work with, scenes to look at."""

import pytest

# Checks that several files share say what differs, as those in tests do.
pytest.register_assert_rewrite("tests.browser.kit.handed_in", "tests.browser.kit.scenes")
