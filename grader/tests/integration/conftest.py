"""Fixtures shared by integration tests: an environment with the wheel installed, and a fake CUDA driver."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests.support.shared_gpu_memory import build
from grader.tests.support.wheel import install_wheel


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `bin` directory of an environment with the wheel and its dependencies, but without torch."""
    return install_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def driver(needs_compiler: None) -> Iterator[Path]:
    """Return a folder with the fake CUDA driver. It is not in /tmp, because each worker has its own /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        build(Path(name))
        yield Path(name)
