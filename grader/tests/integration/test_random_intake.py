"""Random hostile entries in a class do not affect the other submissions. The test in `timing/` runs for minutes."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.tests.support.random_intake import ROLES, check_intake


@pytest.mark.usefixtures("primes")
@given(st.randoms(use_true_random=False), st.sampled_from(ROLES))
@settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_random_entries_do_not_affect_others(chance: random.Random, nobody: bool) -> None:
    check_intake(chance, nobody=nobody)
