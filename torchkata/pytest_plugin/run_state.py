"""The state shared by the plugins during a pytest run, stored as one object on `config.stash`."""

from dataclasses import asdict, dataclass, field

import pytest

from torchkata.result import LOOKS, TestResult
from torchkata.seam.failures import Place
from torchkata.seam.student import Student

from .inputs import Inputs


@dataclass
class RunState:
    """The state of a pytest run."""

    student: Student = field(init=False)
    chosen: set[str] = field(init=False)  # the selected katas
    seed: int = field(init=False)  # seed for all random inputs
    is_seed_secret: bool = False  # true in the grader, because students who know the seed can predict all inputs
    inputs: Inputs | None = None  # inputs to try before running Hypothesis' engine
    sound: frozenset[tuple[str, str]] = frozenset()  # (kata, name) of the tests that pass with the reference solution
    unchecked: frozenset[str] = frozenset()  # katas on which the grader will run the reference solution if necessary
    is_quick_proof: bool = False  # skip the search for patterns, which is not needed by a quick `grader certify`
    results: dict[str, list[TestResult]] = field(default_factory=dict)  # keyed by kata
    digests: dict[str, str] = field(default_factory=dict)  # digest of each kata's files at the start of the run
    places: dict[str, Place | None] = field(default_factory=dict)  # where an untouched stub raises, keyed by kata
    early: str = ""  # the message of a failure that was shown while the tests were running
    terminal: int | None = None  # a file descriptor of the terminal, because pytest captures stdout during a test


STATE = pytest.StashKey[RunState]()


def get_state(config: pytest.Config) -> RunState:
    """Return the state of the current run."""
    return config.stash.setdefault(STATE, RunState())


def attach_result(report: pytest.TestReport, result: TestResult) -> None:
    """Store the result in a report, as a dictionary, because other plugins send reports to other processes."""
    report.kata_result = asdict(result)  # type: ignore[attr-defined]


def get_result(report: pytest.TestReport) -> TestResult | None:
    """Return the result that is stored in a report. The reports of setup and teardown have none."""
    stored = getattr(report, "kata_result", None)
    return None if stored is None else TestResult(**stored)


def add_result(results: list[TestResult], result: TestResult) -> None:
    """Add the result of a test. If a plugin repeats the test, its worst result counts."""
    same = [other for other in results if other.name == result.name]
    worst = min([*same, result], key=lambda one: [*LOOKS].index(one.outcome))
    results[:] = [other for other in results if other not in same] + [worst]
