"""The task pages in a real browser, in the marketplace's frame."""

import pytest

# Checks that several files share say what differs, as those in tests do.
pytest.register_assert_rewrite("tests.browser.kit.handed_in", "tests.browser.kit.scenes")
