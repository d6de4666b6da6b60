"""Sets up what grading needs, once: the sandbox at the best level that works here, and the collected tests."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

from grader.collect import Tests, with_tests
from grader.drawn import drawn_inputs
from grader.errors import MachineError
from grader.leftovers import in_use
from grader.worker.home import WorkerHome
from grader.worker.launch import Isolation, IsolationError, Sandbox, Timing, hidden_files, launch
from kata.catalog import Kata, Limits, catalog
from kata.failures import Inconclusive


def with_workplace(
    isolation: Isolation,
    examples: int,
    warn: Callable[[str], None],
    use: Callable[[Tests, Sandbox], None],
    profile: str = "grade",
    private: Sequence[Path] = (),
    katas: Sequence[Kata] = (),
    *,
    replay: bool = True,
) -> None:
    """Call `use` with the tests of these katas, all for none, and a sandbox.

    Their inputs are drawn once and replayed to each submission, unless told otherwise. Whoever runs in there sees
    nothing of this project, nor of `private`. Raises MachineError where the isolation can't be had.
    """
    sandboxes: list[Sandbox] = []

    def begin(level: Literal["bwrap", "none"]) -> None:
        sandbox = launch(level, catalog().limits)  # imports torch while the tests are collected
        sandboxes.append(sandbox)
        with drawn_inputs(shut_in=level == "bwrap") if replay else nullcontext() as inputs:
            with_tests(lambda tests: use(tests, prove(sandbox, private, warn)), examples, profile, katas, inputs)

    try:
        try:
            begin("none" if isolation == "none" else "bwrap")
        except IsolationError as error:
            if isolation != "auto":
                raise MachineError(f"isolation {isolation} does not work here: {error}") from None
            warn(f"bubblewrap does not work here ({error}).")
            begin("none")
    finally:
        for sandbox in sandboxes:
            sandbox.close()


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
    """Wait until the sandbox is up, and send a worker against its walls. Raises IsolationError where one is down."""
    sandbox.wait_until_ready()
    control = sandbox.clone()
    try:
        home = WorkerHome(control, catalog().limits)
        found = home.open_walls([*hidden_files(), *map(str, private), "/etc/passwd"])
    except Inconclusive as error:
        raise IsolationError(str(error)) from None
    finally:
        control.close()
    if found and sandbox.isolation == "bwrap":
        raise IsolationError(f"a worker can {found[0]}")
    sandbox.open_walls = found
    if found:
        warn(f"Students' code is shut in by limits on resources alone: it can {', '.join(found)}.")
    return sandbox
