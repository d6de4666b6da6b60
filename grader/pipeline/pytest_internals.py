"""Everything of pytest that its documentation does not promise, in one place, and why it is needed."""

import pytest
from _pytest.runner import runtestprotocol


def reports_of(item: pytest.Item) -> list[pytest.TestReport]:
    """Set up, run and tear down one test by itself: pytest's own loop would run all that it has collected."""
    return runtestprotocol(item, nextitem=None, log=False)
