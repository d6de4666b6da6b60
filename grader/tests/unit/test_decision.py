"""Tests of the verdict on a workload: samples, noise, wrong results, faults, MFU thresholds and points."""

import itertools
import math
import random
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.tests.support.timing_samples import (
    FULL_RATE,
    MFU,
    PEAK,
    THRESHOLDS,
    TOLERANCE,
    compute_true_rank,
    get_rank,
    is_not_worse,
    judge_samples,
    make_samples,
    make_steady_samples,
)
from torchkata.course import Tier, Tiers, course
from torchkata.inside.speed.layout import dtype_of
from torchkata.inside.speed.workload import work_of
from torchkata.inside.text import Text
from torchkata.speed import decision
from torchkata.speed.datasheets import devices
from torchkata.speed.decision import RULES, Final, More, Retry, Sample, TimingRules, Verdict, as_ratios


def spread(*ratios: float) -> list[Sample]:
    return [sample for ratio in ratios for sample in make_steady_samples(ratio, 1)]


@pytest.mark.parametrize(
    ("ratio", "tier"),
    [(0.0, None), (0.59, None), (0.6, "passing"), (0.74, "passing"), (0.75, "full"), (3.0, "full")],
)
def test_ten_equal_samples_are_enough_for_verdict(ratio: float, tier: str | None) -> None:
    verdict = judge_samples(make_steady_samples(ratio))
    assert isinstance(verdict, Final)
    assert (verdict.outcome, verdict.tier, verdict.used) == ("passed" if tier else "failed", tier, 10)
    assert verdict.median == pytest.approx(ratio)
    assert verdict.interval == pytest.approx((ratio, ratio))
    missed = f"{ratio:.2f} of plain torch's speed; 0.60 is needed to pass"
    assert str(verdict.note) == ("" if tier else missed)


@pytest.mark.parametrize(
    ("ratio", "bound", "outcome"),
    [
        (1.5, PEAK, "failed"),  # 1.21 times the datasheet's peak
        (1.45, PEAK, "passed"),
        (1.25, 0.5 * FULL_RATE, "failed"),
        (1.15, 0.5 * FULL_RATE, "passed"),  # plain torch shows that the datasheet is too low
        (3.0, None, "passed"),
    ],
)
def test_rate_beyond_the_datasheet_never_passes(ratio: float, bound: float | None, outcome: str) -> None:
    samples = make_steady_samples(ratio)
    for attempt in (1, 2):
        again = judge_samples(samples, bound=bound, attempt=attempt)
        assert isinstance(again, Retry if outcome == "failed" else Final), "another attempt may be slower"
    verdict = judge_samples(samples, bound=bound, attempt=RULES["cuda"].attempts)
    assert isinstance(verdict, Final)
    assert verdict.outcome == outcome
    assert ("the datasheet's peak is impossible" in str(verdict.note)) == (outcome == "failed")


@pytest.mark.parametrize(
    ("workload", "bound"),
    [
        ("linear_forward", 989.4e12),
        ("sgd_step", 3.35e12),
        ("cruncher_step", None),  # algebra saves work
        ("train_throughput", None),
        ("get_batch_throughput", None),
    ],
)
def test_bound_of_a_workload_is_what_limits_it(workload: str, bound: float | None) -> None:
    on = devices()["NVIDIA H100 80GB HBM3"]
    work = work_of(workload)
    assert decision.bound_on(on, work, dtype_of(work.sizes["cuda"])) == bound
    assert decision.bound_on(None, work, torch.bfloat16) is None


JUST_FAR = decision.FAR * THRESHOLDS.passing - 0.01
OPEN = [*[0.58] * 7, *[0.62] * 3]


@pytest.mark.parametrize(
    ("ratios", "more"),
    [
        ([], 5),
        ([0.9], 4),
        ([*[0.75] * 4, 0.74], 1),
        ([JUST_FAR + 0.01] * 7, 1),
        ([*[JUST_FAR] * 6, 0.5], 1),
        (OPEN, 1),
        ([*[0.7] * 7, *[0.8] * 3], 1),
    ],
)
def test_undecided_verdict_requests_more_samples(ratios: list[float], more: int) -> None:
    assert judge_samples(spread(*ratios)) == More(more)


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([0.75] * 5, 2),
        ([*[0.75] * 5, 0.74, 0.75], 2),
        ([0.7] * 9, 1),
        ([JUST_FAR] * 7, 0),
        ([0.59] * 9, 0),
        (OPEN * 2, 1),  # the student gets the benefit of the doubt
    ],
)
def test_verdict_requires_the_last_sample(ratios: list[float], expected: int) -> None:
    samples = spread(*ratios)
    verdict = judge_samples(samples)
    assert isinstance(verdict, Final)
    assert (get_rank(verdict), verdict.used) == (expected, len(ratios))
    assert judge_samples(samples[:-1]) == More(1)


def compute_failing_chance(low: float, chance: float) -> float:
    """Return the probability of failing if ratios are `low` with probability `chance`, otherwise at the threshold."""

    @cache
    def compute(high: int, below: int) -> float:
        verdict = judge_samples([*make_steady_samples(THRESHOLDS.passing, high), *make_steady_samples(low, below)])
        if not isinstance(verdict, More):
            return float(get_rank(verdict) == 0)
        more = verdict.samples
        chances = (math.comb(more, slow) * chance**slow * (1 - chance) ** (more - slow) for slow in range(more + 1))
        return sum(each * compute(high + more - slow, below + slow) for slow, each in enumerate(chances))

    return compute(0, 0)


@pytest.mark.parametrize(("low", "most"), [(0.59, 0.0272), (0.3, 0.0305)])
def test_repeated_early_decisions_rarely_fail_passing_students(low: float, most: float) -> None:
    """At least half of all samples reach the true median. `decide` documents these probabilities."""
    assert compute_failing_chance(low, 0.5) == pytest.approx(most, abs=1e-4)
    assert compute_failing_chance(low, 0.4) < most / 3


@given(
    errors=st.lists(st.floats(0, TOLERANCE), min_size=0, max_size=30),
    bad=st.one_of(st.floats(TOLERANCE, math.inf, exclude_min=True), st.just(math.nan)),
    place=st.integers(0, 30),
    trouble=st.sampled_from(["", "the device was too hot"]),
)
def test_single_wrong_result_fails_the_workload(errors: list[float], bad: float, place: int, trouble: str) -> None:
    errors.insert(place, bad)
    samples = [replace(make_steady_samples(2.0, 1)[0], error=error) for error in errors]
    verdict = judge_samples(samples, trouble=trouble)
    assert get_rank(verdict) == 0
    assert "the result is wrong" in str(verdict.note)  # type: ignore[union-attr]
    disturbed = replace(make_samples(0.9, [1.0, 0.3], [1.0])[0], error=bad)
    assert get_rank(judge_samples([*make_steady_samples(0.9), disturbed])) == 0


def test_error_at_tolerance_is_accepted() -> None:
    assert get_rank(judge_samples([replace(sample, error=TOLERANCE) for sample in make_steady_samples(0.9)])) == 2


def test_machine_fault_is_inconclusive_after_two_retries() -> None:
    hot = "the device slowed down: too hot"
    assert [judge_samples(make_steady_samples(0.9), trouble=hot, attempt=attempt) for attempt in (1, 2)] == [
        Retry(hot)
    ] * 2
    last = judge_samples(make_steady_samples(0.9), trouble=hot, attempt=3)
    assert isinstance(last, Final)
    assert (last.outcome, str(last.note).startswith(hot)) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("ceiling", "needed"), [(0.8, (0.625, 0.75)), (0.5, (0.75, 0.9)), (0.7, (0.5 / 0.7, 0.6 / 0.7))]
)
def test_mfu_thresholds_adapt_to_rate_that_device_reaches(ceiling: float, needed: tuple[float, float]) -> None:
    tiers = as_ratios(MFU, PEAK, ceiling=ceiling * PEAK)
    assert (tiers.passing, tiers.full) == pytest.approx(needed)


@pytest.mark.parametrize("place", range(3))
def test_mfu_thresholds_use_highest_baseline_rate(place: int) -> None:
    """The student is exactly at the threshold. The machine runs at full speed in one block and at 96% in the others."""
    at_full = [*[0.96] * 10, 1.0]
    random.Random(place).shuffle(at_full)
    opening, machine = ((1.0, [0.96] * 11), (0.96, at_full), (0.96, at_full[::-1]))[place]
    samples = make_samples(0.601 * PEAK / FULL_RATE, machine, [0.96] * 10)
    verdict = judge_samples(samples, opening=opening * FULL_RATE, thresholds=MFU, peak=PEAK)
    assert get_rank(verdict) == 2


@given(st.integers(6, 500))
def test_confidence_interval_is_narrowest_with_required_coverage(count: int) -> None:
    low, high = decision.median_interval(count)
    assert low + high == count - 1
    misses = [2 * sum(math.comb(count, i) for i in range(rank)) / 2**count for rank in (low + 1, low + 2)]
    assert misses[0] <= 0.05 < misses[1]


@pytest.mark.parametrize(("tier", "points"), [("full", 5), ("passing", 3), (None, 0)])
def test_points_depend_on_speed_tier(tier: Tier | None, points: float) -> None:
    assert decision.score_of(tier, decision.points_on("cuda", course().workloads["linear_forward"])) == points


def test_cpu_speed_earns_no_points() -> None:
    for workload in course().workloads.values():
        assert decision.points_on("cuda", workload) == workload.points
        assert decision.points_on("cpu", workload) == Tiers(0, 0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_rates_must_be_positive_numbers(bad: float) -> None:
    for field in ("before", "after"):
        with pytest.raises(ValueError, match=f"{field} is"):
            replace(make_steady_samples(1.0, 1)[0], **{field: bad})
    with pytest.raises(ValueError, match="opening is"):
        judge_samples([], opening=bad)
    with pytest.raises(ValueError, match="peak is"):
        judge_samples(make_steady_samples(1.0), peak=bad)
    if bad != 0:
        with pytest.raises(ValueError, match="rate is"):
            Sample(bad, 1.0, 1.0)
        with pytest.raises(ValueError, match="tolerance is"):
            judge_samples([], tolerance=bad)


Setting: TypeAlias = dict[str, Any]
SETTINGS: list[Setting] = [
    {"rules": rules, "thresholds": thresholds, "peak": peak}
    for rules in RULES.values()
    for thresholds, peak in ((THRESHOLDS, None), (MFU, PEAK))
]
settings = st.sampled_from(SETTINGS)
slowdowns = st.one_of(st.just(1.0), st.floats(0.95, 1), st.floats(0.95, 1), st.floats(0.01, 1))


def assert_fair(ratio: float, machine: list[float], own: list[float], setting: Setting) -> None:
    """Assert that noise costs the student no points. Accept any verdict if the ratio is within 1e-6 of a threshold."""
    needed = as_ratios(setting["thresholds"], setting["peak"], FULL_RATE)
    near = any(math.isclose(ratio, bar, rel_tol=1e-6) for bar in (needed.passing, needed.full))
    verdict = judge_samples(make_samples(ratio, machine, own), **setting)
    assert near or is_not_worse(verdict, compute_true_rank(ratio, setting["thresholds"], setting["peak"]))


@given(st.floats(0.01, 2), st.lists(slowdowns, min_size=7, max_size=45), st.data(), settings)
def test_fast_student_passes_on_machine_that_slows_down(
    ratio: float, machine: list[float], data: st.DataObject, setting: Setting
) -> None:
    """The machine may slow down at any time, but a student's block is no slower than its neighbouring baselines."""
    own = [data.draw(st.floats(min(pair), 1)) for pair in itertools.pairwise(machine)]
    assert_fair(ratio, machine, own, setting)


@given(st.floats(0.01, 2), st.lists(slowdowns, min_size=10, max_size=10), st.integers(0, 2**32), settings)
def test_fast_student_passes_despite_slow_blocks(ratio: float, slow: list[float], seed: int, setting: Setting) -> None:
    """Half of the student's blocks are slowed down by an arbitrary amount, but no baseline is."""
    own = random.Random(seed).sample([*slow, *[1.0] * 10], 20)
    assert_fair(ratio, [1.0] * 21, own, setting)


@given(st.floats(0, 0.5), st.lists(st.tuples(slowdowns, slowdowns), min_size=6, max_size=45), settings)
def test_student_below_half_threshold_never_passes(
    fraction: float, machine: list[tuple[float, float]], setting: Setting
) -> None:
    ratio = fraction * as_ratios(setting["thresholds"], setting["peak"], FULL_RATE).passing
    baselines, own = zip(*machine, strict=True)
    verdict = judge_samples(make_samples(ratio, [1.0, *baselines], [*own]), **setting)
    assert not (isinstance(verdict, Final) and verdict.outcome == "passed")


@given(st.floats(0.01, 0.94), st.integers(10, 20))
def test_no_verdict_is_given_if_machine_slows_down(speed: float, count: int) -> None:
    verdict = judge_samples(make_samples(0.9, [speed] * (count + 1), [speed] * count))
    noisy = Text("only {fit} of {all} blocks were timed without disturbance", fit=0, all=20)
    assert verdict == (More(5) if count < 20 else Retry(noisy))


def test_disturbed_samples_are_replaced() -> None:
    samples = [*make_steady_samples(0.9, 4), *make_samples(0.9, [1.0, 0.5, 1.0, 0.5], [1.0] * 3)]
    assert judge_samples(samples) == More(1)
    assert get_rank(judge_samples([*samples, *make_steady_samples(0.9, 1)])) == 2


@pytest.mark.parametrize("first", [1.0, 0.96])
def test_interval_covers_ratios_to_both_adjacent_baselines(first: float) -> None:
    verdict = judge_samples(make_samples(0.9, [first, 1.96 - first] * 5 + [first], [1.0] * 10))
    assert isinstance(verdict, Final)
    assert verdict.median == pytest.approx(0.9)
    assert verdict.interval == pytest.approx((0.9, 0.9 / 0.96))


speeds = st.floats(0.85, 1.0).map(lambda speed: speed * FULL_RATE)
blocks = st.lists(st.builds(Sample, rate=st.floats(0, 2 * FULL_RATE), before=speeds, after=speeds), max_size=45)


@given(blocks, st.integers(0, 2**32), settings)
def test_verdict_does_not_depend_on_sample_order(samples: list[Sample], seed: int, setting: Setting) -> None:
    shuffled = random.Random(seed).sample(samples, len(samples))
    assert judge_samples(shuffled, **setting) == judge_samples(samples, **setting)


@given(blocks, st.floats(1, 3), settings)
def test_faster_student_never_earns_less(samples: list[Sample], faster: float, setting: Setting) -> None:
    slow = judge_samples(samples, **setting)
    fast = judge_samples([replace(sample, rate=sample.rate * faster) for sample in samples], **setting)
    if isinstance(slow, Final) and slow.outcome != "inconclusive":
        assert is_not_worse(fast, get_rank(slow))


@given(st.floats(0, 2), st.floats(0.01, 1), st.integers(0, 2**32), st.sampled_from([*RULES.values()]))
def test_number_of_samples_is_limited(ratio: float, low: float, seed: int, rules: TimingRules) -> None:
    chance = random.Random(seed)
    noise = [chance.choice((1.0, chance.uniform(0.95, 1), chance.uniform(low, 1))) for _ in range(400)]
    verdict: Verdict = More(0)
    for attempt in itertools.count(1):
        samples: list[Sample] = []
        while isinstance(verdict := judge_samples(samples, rules=rules, attempt=attempt), More):
            assert verdict.samples > 0
            new = verdict.samples
            samples += make_samples(ratio, noise[: new + 1], noise[-new:])
            noise = noise[new:] + noise[:new]
        if isinstance(verdict, Final):
            break
    assert attempt <= rules.attempts
    assert len(samples) < 60
