"""What several of these tests share: an environment with the wheel, a library that stands in for the CUDA driver's."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests.support.shared_gpu_memory import build
from grader.tests.support.wheel import install_wheel


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment that has the wheel, what that needs, and no torch."""
    return install_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def driver() -> Iterator[Path]:
    """A folder with the library; not in /tmp, which every worker has for itself."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        if reason := build(Path(name)):
            pytest.skip(reason)
        yield Path(name)
