"""pytest plugin of the runs that a notebook starts: writes how their kata ended, as HTML, to `--verdict FILE`."""

from pathlib import Path

import pytest

from torchkata.course import course
from torchkata.pytest_plugin.report import describe_foundations
from torchkata.pytest_plugin.run_state import get_state

from .html import verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--verdict`."""
    parser.addoption("--verdict", type=Path, metavar="FILE", help="write how the kata ended there, as HTML")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(config: pytest.Config) -> None:
    """Write it, once all has been told and stored."""
    results, file = get_state(config).results, config.getoption("verdict")
    for name, ended in results.items():
        kata = course().katas[name]
        file.write_text(verdict(kata, ended, describe_foundations(kata, results)), "utf-8")
