"""pytest plugin for runs started from a notebook. It writes the report of a kata as HTML to `--verdict FILE`."""

from pathlib import Path

import pytest

from torchkata.course import course
from torchkata.pytest_plugin.history import load_state
from torchkata.pytest_plugin.run_state import get_state
from torchkata.pytest_plugin.run_summary import describe_prerequisites

from .html import verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the `--verdict` option."""
    parser.addoption("--verdict", type=Path, metavar="FILE", help="write the kata's report to this file as HTML")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(config: pytest.Config) -> None:
    """Write the report as HTML, after the other plugins have printed and stored the results."""
    results, file = get_state(config).results, config.getoption("verdict")
    for name, kata_results in results.items():
        kata = course().katas[name]
        file.write_text(verdict(kata, kata_results, describe_prerequisites(kata, results, load_state())), "utf-8")
