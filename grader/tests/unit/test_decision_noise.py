"""Tests that noise of the machine changes no verdict on a workload."""

import itertools
import math
import random
from dataclasses import replace
from typing import Any, TypeAlias

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
from torchkata.speed.decision import RULES, Final, More, Retry, Sample, TimingRules, Verdict, as_ratios

Setting: TypeAlias = dict[str, Any]
SETTINGS: list[Setting] = [
    {"rules": rules, "thresholds": thresholds, "peak": peak}
    for rules in RULES.values()
    for thresholds, peak in ((THRESHOLDS, None), (MFU, PEAK))
]
settings = st.sampled_from(SETTINGS)
slowdowns = st.one_of(st.just(1.0), st.floats(0.95, 1), st.floats(0.95, 1), st.floats(0.01, 1))


def assert_fair(ratio: float, machine: list[float], own: list[float], setting: Setting) -> None:
    """Assert that a student loses nothing by noise, except where float arithmetic alone decides."""
    needed = as_ratios(setting["thresholds"], setting["peak"], FULL_RATE)
    near = any(math.isclose(ratio, bar, rel_tol=1e-6) for bar in (needed.passing, needed.full))
    verdict = judged(sampled(ratio, machine, own), **setting)
    assert near or not_worse(verdict, true_rank(ratio, setting["thresholds"], setting["peak"]))


@given(st.floats(0.01, 2), st.lists(slowdowns, min_size=7, max_size=45), st.data(), settings)
def test_slowing_machine_never_fails_fast_student(
    ratio: float, machine: list[float], data: st.DataObject, setting: Setting
) -> None:
    """The machine slows by any amount at any time; a student's block is no slower than its neighbouring baselines."""
    own = [data.draw(st.floats(min(pair), 1)) for pair in itertools.pairwise(machine)]
    assert_fair(ratio, machine, own, setting)


@given(st.floats(0.01, 2), st.lists(slowdowns, min_size=10, max_size=10), st.integers(0, 2**32), settings)
def test_single_slow_blocks_never_fail_fast_student(
    ratio: float, slow: list[float], seed: int, setting: Setting
) -> None:
    """Half of a student's blocks are slowed by any amount, and no baseline is."""
    own = random.Random(seed).sample([*slow, *[1.0] * 10], 20)
    assert_fair(ratio, [1.0] * 21, own, setting)


@given(st.floats(0, 0.5), st.lists(st.tuples(slowdowns, slowdowns), min_size=6, max_size=45), settings)
def test_student_below_half_threshold_never_passes(
    fraction: float, machine: list[tuple[float, float]], setting: Setting
) -> None:
    ratio = fraction * as_ratios(setting["thresholds"], setting["peak"], FULL_RATE).passing
    baselines, own = zip(*machine, strict=True)
    verdict = judged(sampled(ratio, [1.0, *baselines], [*own]), **setting)
    assert not (isinstance(verdict, Final) and verdict.outcome == "passed")


@given(st.floats(0.01, 0.94), st.integers(10, 20))
def test_machine_slow_after_opening_is_not_judged(speed: float, count: int) -> None:
    verdict = judged(sampled(0.9, [speed] * (count + 1), [speed] * count))
    assert verdict == (More(5) if count < 20 else Retry("only 0 of 20 blocks were timed without disturbance"))


def test_disturbed_samples_are_replaced() -> None:
    samples = [*steady(0.9, 4), *sampled(0.9, [1.0, 0.5, 1.0, 0.5], [1.0] * 3)]
    assert judged(samples) == More(1)
    assert rank(judged([*samples, *steady(0.9, 1)])) == 2


@given(st.floats(0.01, 2), st.integers(10, 20), settings)
def test_alternating_baselines_never_fail_fast_student(ratio: float, count: int, setting: Setting) -> None:
    """The worst tolerated noise: each of the student's blocks is as slow as the slower neighbouring baseline."""
    slow = 1 - 0.99 * setting["rules"].spread
    assert_fair(ratio, [(1.0, slow)[block % 2] for block in range(count + 1)], [slow] * count, setting)


@pytest.mark.parametrize("first", [1.0, 0.96])
def test_interval_spans_both_neighbouring_baselines(first: float) -> None:
    verdict = judged(sampled(0.9, [first, 1.96 - first] * 5 + [first], [1.0] * 10))
    assert isinstance(verdict, Final)
    assert verdict.median == pytest.approx(0.9)
    assert verdict.interval == pytest.approx((0.9, 0.9 / 0.96))


speeds = st.floats(0.85, 1.0).map(lambda speed: speed * FULL_RATE)
blocks = st.lists(st.builds(Sample, rate=st.floats(0, 2 * FULL_RATE), before=speeds, after=speeds), max_size=45)


@given(blocks, st.integers(0, 2**32), settings)
def test_verdict_ignores_order_of_samples(samples: list[Sample], seed: int, setting: Setting) -> None:
    shuffled = random.Random(seed).sample(samples, len(samples))
    assert judged(shuffled, **setting) == judged(samples, **setting)


@given(blocks, st.floats(1, 3), settings)
def test_faster_student_never_earns_less(samples: list[Sample], faster: float, setting: Setting) -> None:
    slow = judged(samples, **setting)
    fast = judged([replace(sample, rate=sample.rate * faster) for sample in samples], **setting)
    if isinstance(slow, Final) and slow.outcome != "inconclusive":
        assert not_worse(fast, rank(slow))


@given(st.floats(0, 2), st.lists(slowdowns, min_size=400, max_size=400), st.sampled_from([*RULES.values()]))
def test_number_of_samples_is_bounded(ratio: float, noise: list[float], rules: TimingRules) -> None:
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
