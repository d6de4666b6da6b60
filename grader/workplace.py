"""Sets up what grading needs, once: the sandbox at the best level that works here, and the collected tests."""

from collections.abc import Callable
from typing import Literal

from grader.collect import Tests, with_tests
from grader.errors import MachineError
from grader.worker.home import WorkerHome
from grader.worker.launch import HIDDEN, Isolation, IsolationError, Sandbox, launch
from kata.catalog import ROOT, catalog
from kata.failures import Inconclusive


def with_workplace(
    isolation: Isolation,
    examples: int,
    warn: Callable[[str], None],
    use: Callable[[Tests, Sandbox], None],
    profile: str = "grade",
) -> None:
    """Call `use` with the tests and a sandbox. Raises MachineError where the isolation can't be had."""
    sandboxes: list[Sandbox] = []

    def begin(level: Literal["bwrap", "none"]) -> Sandbox:
        sandbox = launch(level, catalog().limits)
        sandboxes.append(sandbox)
        return sandbox

    try:
        try:
            first = begin("none" if isolation == "none" else "bwrap")  # imports torch while the tests are collected
            with_tests(lambda tests: use(tests, prove(first)), examples, profile)
        except IsolationError as error:
            if isolation != "auto":
                raise MachineError(f"isolation {isolation} does not work here: {error}") from None
            warn(f"bubblewrap does not work here ({error}).")
            with_tests(lambda tests: use(tests, prove(begin("none"))), examples, profile)
        if sandboxes[-1].isolation == "none":
            warn("Students' code ran with limits on resources alone: it could read what you can read.")
    finally:
        for sandbox in sandboxes:
            sandbox.close()


def prove(sandbox: Sandbox) -> Sandbox:
    """Wait until the sandbox is up, and see that a worker can't open what it must not. Raises IsolationError."""
    sandbox.wait_until_ready()
    control = sandbox.clone()
    try:
        found = WorkerHome(control, catalog().limits).peek([str(ROOT / name) for name in HIDDEN])
    except Inconclusive as error:
        raise IsolationError(str(error)) from None
    finally:
        control.close()
    if found and sandbox.isolation == "bwrap":
        raise IsolationError(f"a worker can open {found[0]}")
    return sandbox
