"""Sets up grading: a sandbox with the strongest isolation that works on this machine, and the collected tests."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from grader.base.errors import MachineError
from grader.base.files import in_use
from grader.pipeline.collect import Tests, collect_tests
from grader.pipeline.inputs import SharedInputs
from grader.pipeline.selection import demand_preloaded
from grader.pipeline.startup import Startup
from grader.sandbox.launch import Isolation, Sandbox, Timing, launch
from grader.sandbox.mounts import IsolationError, list_hidden_files
from grader.sandbox.runner import WorkerRunner
from torchkata.course import Kata, Limits, course
from torchkata.seam.failures import Inconclusive


def run_with_tests(
    isolation: Isolation,
    examples: int,
    warn: Callable[[str], None],
    use: Callable[[Tests, Sandbox], None],
    profile: str = "grade",
    private: Sequence[Path] = (),
    katas: Sequence[Kata] = (),
    startup: Startup | None = None,
) -> None:
    """Call `use` with the tests of these katas and a sandbox. Raises MachineError if the isolation is not available.

    Args:
        private: paths other than the course that must not be readable from within the sandbox.
        katas: the katas to test; if empty, all katas.
        startup: may already have launched the sandbox.
    """
    chosen = katas or [*course().katas.values()]
    demand_preloaded()
    with contextlib.closing(startup or Startup()) as steps:

        def run(level: Literal["bwrap", "none"]) -> None:
            sandbox = steps.get_sandbox(level, chosen, examples)

            def begin(tests: Tests) -> None:
                steps.show("waiting for imports in the sandbox, then testing the sandbox")
                prove(sandbox, private, warn)
                steps.clear_line()
                use(tests, sandbox)

            steps.show("collecting the tests")  # while the sandbox imports its modules
            collect_tests(begin, examples, profile, katas, SharedInputs())

        try_isolations(isolation, warn, run)


def run_with_sandbox(
    isolation: Isolation,
    limits: Limits,
    timing: Timing,
    warn: Callable[[str], None],
    use: Callable[[Sandbox], None],
    private: Sequence[Path] = (),
) -> None:
    """Call `use` with a sandbox for timed workers. Raises MachineError if the isolation is not available."""

    def run(level: Literal["bwrap", "none"]) -> None:
        with contextlib.closing(launch(level, limits, timing)) as sandbox:
            prove(sandbox, private, warn)
            with in_use(sandbox.runtime):
                use(sandbox)

    try_isolations(isolation, warn, run)


def try_isolations(
    isolation: Isolation, warn: Callable[[str], None], run: Callable[[Literal["bwrap", "none"]], None]
) -> None:
    """Call `run` with the requested level. For "auto", try bwrap first and fall back to none.

    Raises MachineError if the requested level does not work on this machine.
    """
    try:
        run("none" if isolation == "none" else "bwrap")
    except IsolationError as error:
        if isolation != "auto":
            raise MachineError(f"isolation {isolation} does not work here: {error}") from None
        warn(f"bubblewrap does not work here ({error}).")
        run("none")


def prove(sandbox: Sandbox, private: Sequence[Path], warn: Callable[[str], None]) -> None:
    """Wait for the sandbox and let a worker try to break out. Raises IsolationError if it escapes from bubblewrap."""
    sandbox.wait_until_ready()
    control = sandbox.clone()
    try:
        runner = WorkerRunner(control, course().limits)
        found = runner.find_violations([*list_hidden_files(), *map(str, private), "/etc/passwd"])
    except Inconclusive as error:
        raise IsolationError(str(error)) from None
    finally:
        control.close()
    secret = {f"read {path}" for path in private}
    found = ["read submissions or results" if words in secret else words for words in found]  # paths may contain names
    if found and sandbox.isolation == "bwrap":
        raise IsolationError(f"a worker can {found[0]}")
    sandbox.violations = found
    if found:
        warn(f"Students' code is confined by resource limits only: it can {', '.join(found)}.")
