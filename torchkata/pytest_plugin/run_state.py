"""The state shared by the plugins during a pytest run, stored as one object on `config.stash`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from torchkata.result import TestResult
from torchkata.seam.student import Student

if TYPE_CHECKING:
    from .first_pass import Inputs


@dataclass
class RunState:
    """The state of a pytest run."""

    student: Student = field(init=False)
    chosen: set[str] = field(init=False)  # the selected katas
    seed: int = field(init=False)  # seed for all random inputs
    is_seed_secret: bool = False  # true in the grader, because students who know the seed can predict all inputs
    inputs: "Inputs | None" = None  # inputs to try before running Hypothesis' engine
    sound: frozenset[tuple[str, str]] = frozenset()  # (kata, name) of the tests that pass with the reference solution
    is_quick_proof: bool = False  # skip the search for patterns, which is not needed by a quick `grader certify`
    results: dict[str, list[TestResult]] = field(default_factory=dict)  # keyed by kata
    digests: dict[str, str] = field(default_factory=dict)  # digest of each kata's files at the start of the run
    terminal: int | None = None  # a file descriptor of the terminal, because pytest captures stdout during a test


STATE = pytest.StashKey[RunState]()


def get_state(config: pytest.Config) -> RunState:
    """Return the state of the current run."""
    return config.stash.setdefault(STATE, RunState())
