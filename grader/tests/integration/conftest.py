"""Fixtures for the installed wheel and the fake CUDA driver."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests.support.shared_gpu_memory import build
from grader.tests.support.wheel import install_wheel


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel and its dependencies, but not torch, and return the `bin` of that environment."""
    return install_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def driver() -> Iterator[Path]:
    """Build the fake CUDA driver in a folder outside /tmp, because every worker has its own /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        if reason := build(Path(name)):
            pytest.skip(reason)
        yield Path(name)
