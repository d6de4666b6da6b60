"""The state that the plugins share during a run of pytest: one object on `config.stash`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from torchkata.result import TestResult
from torchkata.seam.student import Student

if TYPE_CHECKING:
    from .first_pass import Inputs


@dataclass
class RunState:
    """The state of one run of pytest."""

    student: Student = field(init=False)
    chosen: set[str] = field(init=False)  # the katas to test
    seed: int = field(init=False)  # seed of all random inputs
    is_seed_secret: bool = False  # true in the grader: a student who knew the seed would know all inputs
    inputs: "Inputs | None" = None  # inputs to run before Hypothesis' engine
    sound: frozenset[tuple[str, str]] = frozenset()  # kata and name of the tests that the reference solution passes
    is_quick_proof: bool = False  # skip the search for patterns, which a quick `grader certify` does not use
    results: dict[str, list[TestResult]] = field(default_factory=dict)  # keyed by kata
    digests: dict[str, str] = field(default_factory=dict)  # digest of each kata's files at the beginning of the run
    terminal: int | None = None  # a descriptor of the terminal, because pytest captures stdout during a test


STATE = pytest.StashKey[RunState]()


def get_state(config: pytest.Config) -> RunState:
    """Return the state of this run."""
    return config.stash.setdefault(STATE, RunState())
