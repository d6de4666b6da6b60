"""Does to a run what popular plugins do, if they are not installed: `pytest -p THIS_MODULE --imitate NAME`."""

import marshal
import os
import tempfile
from typing import Any

import pytest
from _pytest.runner import runtestprotocol


class Repeat:
    """pytest-repeat: runs each test twice, under names such as `test_a[1-2]`."""

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        metafunc.fixturenames.append("step")
        metafunc.parametrize("step", range(2), ids=lambda step: f"{step + 1}-2")


class Randomly:
    """pytest-randomly: changes the order of the tests."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.reverse()


class RerunFailures:
    """pytest-rerunfailures: runs each test again, and changes the outcome of the first attempt."""

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for is_final in (False, True):
            for report in runtestprotocol(item, log=False, nextitem=nextitem):
                if report.failed and not is_final:
                    report.outcome = "rerun"  # type: ignore[assignment]
                item.ihook.pytest_runtest_logreport(report=report)
        return True

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        return ("rerun", "R", "RERUN") if report.outcome == "rerun" else None  # type: ignore[comparison-overlap]


class Forked:
    """pytest-forked: runs each test in a process of its own, which sends the reports as plain data."""

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        convert: Any = item.config.hook
        with tempfile.TemporaryFile() as file:
            if (pid := os.fork()) == 0:
                reports = runtestprotocol(item, log=False, nextitem=nextitem)
                plain = [convert.pytest_report_to_serializable(config=item.config, report=one) for one in reports]
                file.write(marshal.dumps(plain))
                file.flush()
                os._exit(0)
            os.waitpid(pid, 0)
            file.seek(0)
            for data in marshal.loads(file.read()):
                report = convert.pytest_report_from_serializable(config=item.config, data=data)
                item.ihook.pytest_runtest_logreport(report=report)
        return True


IMITATIONS = {"repeat": Repeat, "randomly": Randomly, "rerunfailures": RerunFailures, "forked": Forked}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--imitate`."""
    parser.addoption("--imitate", choices=IMITATIONS)


def pytest_configure(config: pytest.Config) -> None:
    """Register the chosen plugin."""
    config.pluginmanager.register(IMITATIONS[config.getoption("--imitate")]())
