"""The state that the plugins share during one run of pytest: one object on `config.stash`."""

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

    student: Student = field(init=False)  # whose code is tested
    chosen: set[str] = field(init=False)  # the katas that are tested
    seed: int = field(init=False)  # of all random inputs
    is_seed_secret: bool = False  # whoever knew the seed would know all inputs, so no student reads it
    inputs: "Inputs | None" = None  # what runs before Hypothesis' engine; None: nothing does
    sound: frozenset[tuple[str, str]] = frozenset()  # kata and name of the tests that the reference solution passes
    is_quick_proof: bool = False  # nobody reads which rule holds in all answers
    results: dict[str, list[TestResult]] = field(default_factory=dict)  # by kata
    digests: dict[str, str] = field(default_factory=dict)  # of each kata's files when the run began
    terminal: int | None = None  # a descriptor of the terminal, which pytest takes away while a test runs


STATE = pytest.StashKey[RunState]()


def get_state(config: pytest.Config) -> RunState:
    """Return the state of this run."""
    return config.stash.setdefault(STATE, RunState())
