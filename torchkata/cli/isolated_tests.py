"""pytest plugin of `kata check` that runs each test in a process of its own with limited memory, as the grader does.

What a kata's code changes for all code, such as a function of torch or `builtins`, then can't help or harm another
kata, and code that exits Python ends one test only.
"""

import faulthandler
import os
import pickle
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from typing import IO, Any, NoReturn

import pytest

from torchkata.course import course
from torchkata.inside.process_limits import measure_address_space
from torchkata.pytest_plugin.run_state import get_state
from torchkata.pytest_plugin.selection import find_kata
from torchkata.seam.failures import Died, describe_exit

ROOM_MIB = 400  # memory for the tests themselves


class ForkedTests:
    """Runs each test in a forked process, and reports what it sends."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.is_child = False
        self.reports: list[dict[str, Any]] = []  # those of the test that this child runs

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run a test of a kata in a child."""
        if self.is_child or find_kata(item.path) is None:
            return None
        hook, where = item.ihook, {"nodeid": item.nodeid, "location": item.location}
        hook.pytest_runtest_logstart(**where)
        with tempfile.TemporaryFile() as file:
            code = self.run_in_child(item, file)
            file.seek(0)
            sent, memory = pickle.loads(file.read() or pickle.dumps(([], {})))
        get_state(item.config).student.memory |= memory
        reports = [hook.pytest_report_from_serializable(config=item.config, data=data) for data in sent]
        for report in reports or [report_death(item, code)]:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(**where)
        return True

    def run_in_child(self, item: pytest.Item, file: IO[bytes]) -> int:
        """Run a test in a child, which writes its reports to a file, and return the exit code of the child."""
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's threads; none of them holds a lock
            pid = os.fork()
        if pid == 0:
            self.run(item, file)
        try:
            status = os.waitpid(pid, 0)[1]
        except BaseException:  # such as Ctrl-C
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        return os.waitstatus_to_exitcode(status)

    def run(self, item: pytest.Item, file: IO[bytes]) -> NoReturn:
        """Run a test in this process, write its reports, and exit."""
        code = 1
        try:
            self.is_child = True
            item.config.pluginmanager.unregister(name="terminalreporter")
            faulthandler.disable()  # the result says that the code has crashed
            limit_resources()
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            file.write(pickle.dumps((self.reports, get_state(item.config).student.memory)))
            file.flush()
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In a child, keep the report for the parent."""
        if self.is_child:
            self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))


def limit_resources() -> None:
    """Limit the memory of this process to what the grader allows, and its CPU time if code can't be interrupted."""
    import resource

    limits, used = course().limits, measure_address_space()
    memory = used + (limits.memory_mib + ROOM_MIB) * 2**20
    seconds = int(limits.kata_seconds * limits.wall_factor)
    with suppress(OSError, ValueError):  # a limit of the system is lower
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        if used:  # otherwise unknown, and the libraries alone may need more
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def report_death(item: pytest.Item, code: int) -> pytest.TestReport:
    """Return the report about a test during which the process ended."""

    def die() -> NoReturn:
        raise Died(describe_exit(code))

    call = pytest.CallInfo.from_call(die, "call")
    report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Isolate the tests if this platform can."""
    config.pluginmanager.register(ForkedTests(config))
