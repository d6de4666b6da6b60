"""What several of these tests share: an environment with the wheel."""

from pathlib import Path

import pytest

from grader.tests.wheel import install


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment that has the wheel, what that needs, and no torch."""
    return install(tmp_path_factory.mktemp("wheel"))
