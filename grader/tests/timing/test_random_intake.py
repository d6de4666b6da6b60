"""Tests random hostile entries for minutes. Failures are stored in `.hypothesis/`, and the next run replays them."""

import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from grader.tests import ROOT
from grader.tests.support.random_intake import ROLES, check_intake

MINUTES = 5
AT_ONCE = 200  # number of entries between checks of the clock


@given(st.randoms(use_true_random=False), st.sampled_from(ROLES))
@settings(
    max_examples=AT_ONCE,
    deadline=None,
    derandomize=False,  # even in CI
    database=DirectoryBasedExampleDatabase(ROOT / ".hypothesis/examples"),
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
def check_random_entries(chance: random.Random, nobody: bool) -> None:
    check_intake(chance, nobody=nobody)


@pytest.mark.usefixtures("primes")
def test_many_random_entries_do_not_affect_others() -> None:
    end = time.monotonic() + 60 * MINUTES
    while time.monotonic() < end:
        check_random_entries()
