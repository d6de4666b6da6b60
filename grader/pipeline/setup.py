"""Sets up what grading needs, once: the sandbox at the best level that works here, and the collected tests."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from grader.base.cleanup import in_use
from grader.base.errors import MachineError
from grader.pipeline.collect import Tests, with_tests
from grader.pipeline.inputs import DrawnInputs
from grader.pipeline.selection import demand_gradable
from grader.pipeline.startup import Start
from grader.sandbox.launch import Isolation, IsolationError, Sandbox, Timing, launch, list_hidden_files
from grader.sandbox.runner import WorkerRunner
from torchkata.course import Kata, Limits, course
from torchkata.seam.failures import Inconclusive


def with_workplace(
    isolation: Isolation,
    examples: int,
    warn: Callable[[str], None],
    use: Callable[[Tests, Sandbox], None],
    profile: str = "grade",
    private: Sequence[Path] = (),
    katas: Sequence[Kata] = (),
    start: Start | None = None,
    *,
    replay: bool = True,
) -> None:
    """Call `use` with the tests of these katas, all for none, and a sandbox, which `start` may have begun.

    Their inputs are drawn once and replayed to each submission, unless told otherwise. Whoever runs in there sees
    nothing of this project, nor of `private`. Raises MachineError where the isolation can't be had.
    """
    asked = katas or [*course().katas.values()]
    demand_gradable(asked)
    with contextlib.closing(start or Start()) as beginning:

        def go_on(sandbox: Sandbox) -> None:
            """Collect the tests while it imports what students use; then look at it, and begin."""

            def begin(tests: Tests) -> None:
                beginning.say("waiting for the sandbox to import what students use, and testing it")
                prove(sandbox, private, warn)
                beginning.say_no_more()
                use(tests, sandbox)

            beginning.say("collecting the tests")
            with_tests(begin, examples, profile, katas, DrawnInputs() if replay else None)

        try:
            go_on(beginning.sandbox("none" if isolation == "none" else "bwrap", asked))
        except IsolationError as error:
            if isolation != "auto":
                raise MachineError(f"isolation {isolation} does not work here: {error}") from None
            warn(f"bubblewrap does not work here ({error}).")
            go_on(beginning.sandbox("none", asked))


def with_sandbox(
    isolation: Isolation,
    limits: Limits,
    timing: Timing,
    warn: Callable[[str], None],
    use: Callable[[Sandbox], None],
    private: Sequence[Path] = (),
) -> None:
    """Call `use` with a sandbox for workers that are timed. Raises MachineError where the isolation can't be had."""
    levels: dict[Isolation, list[Literal["bwrap", "none"]]] = {
        "auto": ["bwrap", "none"],
        "bwrap": ["bwrap"],
        "none": ["none"],
    }
    for level in levels[isolation]:
        try:
            sandbox = launch(level, limits, timing)
            try:
                prove(sandbox, private, warn)
            except IsolationError:
                sandbox.close()
                raise
        except IsolationError as error:
            if level == levels[isolation][-1]:
                raise MachineError(f"isolation {isolation} does not work here: {error}") from None
            warn(f"bubblewrap does not work here ({error}).")
            continue
        try:
            with in_use(sandbox.runtime):
                use(sandbox)
        finally:
            sandbox.close()
        return


def prove(sandbox: Sandbox, private: Sequence[Path], warn: Callable[[str], None]) -> Sandbox:
    """Wait until the sandbox is up, and let a worker try to break out. Raises IsolationError where it can."""
    sandbox.wait_until_ready()
    control = sandbox.clone()
    try:
        runner = WorkerRunner(control, course().limits)
        found = runner.find_violations([*list_hidden_files(), *map(str, private), "/etc/passwd"])
    except Inconclusive as error:
        raise IsolationError(str(error)) from None
    finally:
        control.close()
    if found and sandbox.isolation == "bwrap":
        raise IsolationError(f"a worker can {found[0]}")
    sandbox.violations = found
    if found:
        warn(f"Students' code is shut in by limits on resources alone: it can {', '.join(found)}.")
    return sandbox
