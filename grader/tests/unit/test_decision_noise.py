"""The verdict on a workload where the machine is noisy: whoever truly passes passes, and nobody else does."""

import itertools
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.tests.support.samples import (
    FULL_RATE,
    MFU,
    PEAK,
    THRESHOLDS,
    judged,
    not_worse,
    rank,
    sampled,
    steady,
    true_rank,
)
from torchkata.course import Tiers
from torchkata.speed.decision import RULES, Final, More, Retry, Sample, TimingRules, Verdict, as_ratios

rules = st.sampled_from(list(RULES.values()))
measures = st.sampled_from([(THRESHOLDS, None), (MFU, PEAK)])
slowdowns = st.one_of(st.just(1.0), st.floats(0.95, 1), st.floats(0.95, 1), st.floats(0.01, 1))


def assert_fair(
    ratio: float, machine: list[float], own: list[float], measure: tuple[Tiers, float | None], rules: TimingRules
) -> None:
    """Assert that a student loses nothing by noise, except where float arithmetic alone decides."""
    verdict = judged(sampled(ratio, machine, own), thresholds=measure[0], peak=measure[1], rules=rules)
    needed = as_ratios(*measure, FULL_RATE)
    near = any(math.isclose(ratio, bar, rel_tol=1e-6) for bar in (needed.passing, needed.full))
    assert near or not_worse(verdict, true_rank(ratio, *measure))


@given(
    ratio=st.floats(0.01, 2),
    machine=st.lists(slowdowns, min_size=7, max_size=45),
    between=st.data(),
    rules=rules,
    measure=measures,
)
def test_a_slowing_machine_never_fails_a_student_who_truly_passes(
    ratio: float, machine: list[float], between: st.DataObject, rules: TimingRules, measure: tuple[Tiers, float | None]
) -> None:
    """The machine may slow by any amount at any time: a student's block is no slower than the baselines beside it."""
    own = [between.draw(st.floats(min(pair), 1)) for pair in itertools.pairwise(machine)]
    assert_fair(ratio, machine, own, measure, rules)


@given(
    ratio=st.floats(0.01, 2),
    own=st.lists(slowdowns, min_size=10, max_size=10).map(lambda slow: [*slow, *[1.0] * 10]),
    seed=st.integers(0, 2**32),
    measure=measures,
    rules=rules,
)
def test_single_slow_blocks_never_fail_a_student_who_truly_passes(
    ratio: float, own: list[float], seed: int, measure: tuple[Tiers, float | None], rules: TimingRules
) -> None:
    """Half of a student's blocks are hit as badly as can be, and no baseline beside them."""
    random.Random(seed).shuffle(own)
    assert_fair(ratio, [1.0] * 21, own, measure, rules)


@given(
    fraction=st.floats(0, 0.5),
    machine=st.lists(st.tuples(slowdowns, slowdowns), min_size=6, max_size=45),
    rules=rules,
    measure=measures,
)
def test_no_student_below_half_a_threshold_passes_whatever_slows(
    fraction: float, machine: list[tuple[float, float]], rules: TimingRules, measure: tuple[Tiers, float | None]
) -> None:
    thresholds, peak = measure
    ratio = fraction * as_ratios(thresholds, peak, FULL_RATE).passing
    baselines, own = [1.0, *(baseline for baseline, _ in machine)], [mine for _, mine in machine]
    verdict = judged(sampled(ratio, baselines, own), thresholds=thresholds, peak=peak, rules=rules)
    assert not (isinstance(verdict, Final) and verdict.outcome == "passed")


@given(st.floats(0.01, 0.94), st.integers(10, 20))
def test_a_machine_that_stays_slow_after_the_opening_is_not_judged(speed: float, count: int) -> None:
    verdict = judged(sampled(0.9, [speed] * (count + 1), [speed] * count))
    assert verdict == (More(5) if count < 20 else Retry("only 0 of 20 blocks were timed without disturbance"))


def test_disturbed_samples_are_replaced_by_further_ones() -> None:
    samples = [*steady(0.9, 4), *sampled(0.9, [1.0, 0.5, 1.0, 0.5], [1.0] * 3)]
    assert judged(samples) == More(1)
    assert rank(judged([*samples, *steady(0.9, 1)])) == 2


def test_a_fast_and_a_slow_state_of_the_machine_cancel_out() -> None:
    states = [1.0] * 6 + [0.96] * 6
    assert rank(judged(sampled(0.76, states, states[:-1]))) == 2


@given(ratio=st.floats(0.01, 2), count=st.integers(10, 20), rules=rules, measure=measures)
def test_alternating_baselines_never_fail_a_student_who_truly_passes(
    ratio: float, count: int, rules: TimingRules, measure: tuple[Tiers, float | None]
) -> None:
    """The worst that tolerated noise can do: every block of the student's shares the slower one's state."""
    slow = 1 - 0.99 * rules.spread
    assert_fair(ratio, [(1.0, slow)[block % 2] for block in range(count + 1)], [slow] * count, measure, rules)


def test_a_sample_counts_against_the_faster_baseline_or_in_doubt_the_slower() -> None:
    for first in (1.0, 0.96):
        verdict = judged(sampled(0.9, [first, 1.96 - first] * 5 + [first], [1.0] * 10))
        assert isinstance(verdict, Final)
        assert verdict.median == pytest.approx(0.9)
        assert verdict.interval == pytest.approx((0.9, 0.9 / 0.96))


# --- order, rate, repetition ---


blocks = st.builds(
    Sample,
    rate=st.floats(0, 2 * FULL_RATE),
    before=st.floats(0.85, 1.0).map(lambda speed: speed * FULL_RATE),
    after=st.floats(0.85, 1.0).map(lambda speed: speed * FULL_RATE),
)


@given(samples=st.lists(blocks, max_size=45), seed=st.integers(0, 2**32), measure=measures, rules=rules)
def test_the_verdict_does_not_depend_on_the_order_of_samples_or_on_chance(
    samples: list[Sample], seed: int, measure: tuple[Tiers, float | None], rules: TimingRules
) -> None:
    thresholds, peak = measure
    verdict = judged(samples, thresholds=thresholds, peak=peak, rules=rules)
    assert (
        judged(random.Random(seed).sample(samples, len(samples)), thresholds=thresholds, peak=peak, rules=rules)
        == verdict
    )


@given(samples=st.lists(blocks, max_size=45), faster=st.floats(1, 3), measure=measures, rules=rules)
def test_a_faster_student_never_earns_less(
    samples: list[Sample], faster: float, measure: tuple[Tiers, float | None], rules: TimingRules
) -> None:
    thresholds, peak = measure
    slow = judged(samples, thresholds=thresholds, peak=peak, rules=rules)
    raised = [replace(sample, rate=sample.rate * faster) for sample in samples]
    fast = judged(raised, thresholds=thresholds, peak=peak, rules=rules)
    if isinstance(slow, Final) and slow.outcome != "inconclusive":
        assert not_worse(fast, rank(slow))


@given(ratio=st.floats(0, 2), noise=st.lists(slowdowns, min_size=400, max_size=400), rules=rules)
def test_timing_a_workload_ends_after_a_bounded_number_of_samples(
    ratio: float, noise: list[float], rules: TimingRules
) -> None:
    verdict: Verdict = More(0)
    for attempt in itertools.count(1):
        samples: list[Sample] = []
        while isinstance(verdict := judged(samples, rules=rules, attempt=attempt), More):
            assert verdict.samples > 0
            new = verdict.samples
            samples += sampled(ratio, noise[: new + 1], noise[-new:])
            noise = noise[new:] + noise[:new]
        if isinstance(verdict, Final):
            break
    assert attempt <= rules.attempts
    assert len(samples) < 60
