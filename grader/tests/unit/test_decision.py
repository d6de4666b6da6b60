"""The verdict on a workload: one batch of samples, wrong results, trouble, the device's own limits, points."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.tests.support.samples import (
    CUDA,
    FULL_RATE,
    MFU,
    PEAK,
    THRESHOLDS,
    TOLERANCE,
    judged,
    rank,
    sampled,
    steady,
)
from torchkata.course import Tier, Tiers, course
from torchkata.speed.decision import (
    FAR,
    FAR_SAMPLES,
    FEWEST,
    Final,
    More,
    Retry,
    Sample,
    TimingRules,
    Verdict,
    as_ratios,
    median_interval,
    points_on,
    score_of,
)

# --- one batch, nothing disturbed ---


def spread(*ratios: float) -> list[Sample]:
    return [sample for ratio in ratios for sample in steady(ratio, 1)]


@pytest.mark.parametrize(
    ("ratio", "tier"),
    [(0.0, None), (0.59, None), (0.6, "passing"), (0.74, "passing"), (0.75, "full"), (3.0, "full")],
)
def test_ten_equal_samples_decide_the_verdict(ratio: float, tier: str | None) -> None:
    verdict = judged(steady(ratio))
    assert isinstance(verdict, Final)
    assert (verdict.outcome, verdict.tier, verdict.used) == ("passed" if tier else "failed", tier, 10)
    assert verdict.median == pytest.approx(ratio)
    assert verdict.interval == pytest.approx((ratio, ratio))
    assert verdict.mfu is None
    missed = f"{ratio:.2f} of plain torch's speed; 0.60 is needed to pass"
    assert verdict.note == ("" if tier else missed)


JUST_FAR = FAR * THRESHOLDS.passing - 0.01
OPEN = [*[0.58] * 7, *[0.62] * 3]


@pytest.mark.parametrize(
    ("ratios", "more"),
    [
        ([], 5),
        ([0.9], 4),
        ([0.9] * 4, 1),
        ([*[0.75] * 4, 0.74], 1),
        ([*[0.75] * 5, 0.74], 1),
        ([0.7] * 8, 1),
        ([JUST_FAR] * 6, 1),
        ([JUST_FAR + 0.01] * 7, 1),
        ([*[JUST_FAR] * 6, 0.5], 1),
        ([0.59] * 8, 1),
        (OPEN, 1),
        ([*[0.7] * 7, *[0.8] * 3], 1),
    ],
)
def test_undecided_samples_ask_for_more(ratios: list[float], more: int) -> None:
    assert judged(spread(*ratios)) == More(more)


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([0.75] * 5, 2),
        ([*[0.75] * 5, 0.74, 0.75], 2),
        ([0.7] * 9, 1),
        ([JUST_FAR] * 7, 0),
        ([0.59] * 9, 0),
        (OPEN * 2, 1),  # in doubt for the student
        ([*[0.5] * 9, 0.9], 0),
    ],
)
def test_decided_samples_need_no_more(ratios: list[float], expected: int) -> None:
    verdict = judged(spread(*ratios))
    assert isinstance(verdict, Final)
    assert (rank(verdict), verdict.used) == (expected, len(ratios))


# --- many looks, and what they cost ---


LATE = replace(CUDA, looks=(10, 20))


def ended(ratios: Sequence[float], rules: TimingRules) -> Verdict:
    """How a workload ends whose samples come one after the other."""
    samples = spread(*ratios)
    taken, verdict = 0, judged([], rules=rules)
    while isinstance(verdict, More):
        taken += verdict.samples
        verdict = judged(samples[:taken], rules=rules)
    return verdict


@given(st.lists(st.sampled_from([0.3, 0.59, 0.7, 0.8]), min_size=20, max_size=20))
def test_an_early_look_says_what_ten_or_twenty_samples_would_unless_the_first_agree(ratios: list[float]) -> None:
    far = all(ratio == 0.3 for ratio in ratios[:FAR_SAMPLES])
    fast = all(ratio == 0.8 for ratio in ratios[:FEWEST])
    assert rank(ended(ratios, CUDA)) == (0 if far else 2 if fast else rank(ended(ratios, LATE)))


def test_five_samples_that_reach_a_threshold_hardly_ever_pass_who_would_not_have() -> None:
    """Only whom fifteen more would all have missed it: of independent samples a quarter must reach it for the worst."""
    first = [0.8] * FEWEST
    assert rank(ended([*first, *[0.7] * 15], LATE)) == 1
    for place in range(15):
        rest = [0.7] * 15
        rest[place] = 0.8
        assert rank(ended([*first, *rest], LATE)) == 2
    assert max((p / 1000) ** 5 * (1 - p / 1000) ** 15 for p in range(1001)) < 1 / 76_000


def failing(low: float, chance: float) -> float:
    """How probably a student fails whose blocks are at the threshold or, by this chance, at a `low` ratio."""

    @cache
    def from_here(high: int, below: int) -> float:
        verdict = judged([*steady(THRESHOLDS.passing, high), *steady(low, below)])
        if not isinstance(verdict, More):
            return float(rank(verdict) == 0)
        more = verdict.samples
        return sum(
            math.comb(more, slow)
            * chance**slow
            * (1 - chance) ** (more - slow)
            * from_here(high + more - slow, below + slow)
            for slow in range(more + 1)
        )

    return from_here(0, 0)


@pytest.mark.parametrize(("low", "most"), [(0.59, 0.0272), (0.3, 0.0305)])
def test_all_looks_together_fail_few_who_truly_reach_the_threshold(low: float, most: float) -> None:
    """The true median is reached by half of all samples at least: what is said of the looks in `decided`."""
    assert failing(low, 0.5) == pytest.approx(most, abs=1e-4)
    assert failing(low, 0.4) < most / 3


# --- wrong results ---


@given(
    errors=st.lists(st.floats(0, TOLERANCE), min_size=0, max_size=30),
    bad=st.one_of(st.floats(TOLERANCE, math.inf, exclude_min=True), st.just(math.nan)),
    place=st.integers(0, 30),
    trouble=st.sampled_from(["", "the device was too hot"]),
)
def test_one_wrong_result_fails_a_workload_whatever_the_rest(
    errors: list[float], bad: float, place: int, trouble: str
) -> None:
    errors.insert(place, bad)
    samples = [replace(steady(2.0, 1)[0], error=error) for error in errors]
    verdict = judged(samples, trouble=trouble)
    assert isinstance(verdict, Final)
    assert (verdict.outcome, verdict.tier) == ("failed", None)
    assert "the result is wrong" in verdict.note


def test_an_error_at_the_tolerance_is_right() -> None:
    assert rank(judged([replace(sample, error=TOLERANCE) for sample in steady(0.9)])) == 2


def test_a_wrong_result_in_a_disturbed_block_fails_the_workload() -> None:
    odd = replace(sampled(0.9, [1.0, 0.3], [1.0])[0], error=0.1)
    assert rank(judged([*steady(0.9), odd])) == 0


# --- attempts and trouble ---


def test_trouble_of_the_machine_is_retried_twice_and_then_costs_no_points() -> None:
    hot = "the device slowed down: too hot"
    assert [judged(steady(0.9), trouble=hot, attempt=attempt) for attempt in (1, 2, 3)] == [
        Retry(hot),
        Retry(hot),
        Final("inconclusive", note=f"{hot}; a problem of the grading machine; no points lost"),
    ]


# --- MFU ---


def test_a_device_that_reaches_enough_asks_for_the_advertised_mfu() -> None:
    needed = as_ratios(MFU, PEAK, ceiling=0.8 * PEAK)
    assert (needed.passing, needed.full) == pytest.approx((0.625, 0.75))


def test_a_device_that_gives_less_asks_for_less_by_two_different_thresholds() -> None:
    assert as_ratios(MFU, PEAK, ceiling=0.5 * PEAK) == Tiers(0.75, 0.9)
    needed = as_ratios(MFU, PEAK, ceiling=0.7 * PEAK)
    assert (needed.passing, needed.full) == pytest.approx((0.5 / 0.7, 0.6 / 0.7))


def test_the_mfu_follows_from_the_median_at_the_full_rate() -> None:
    verdict = judged(steady(0.5), thresholds=MFU, peak=PEAK)
    assert isinstance(verdict, Final)
    assert verdict.mfu == pytest.approx(0.5 * FULL_RATE / PEAK)


@pytest.mark.parametrize("place", range(3))
def test_mfu_thresholds_go_by_the_highest_rate_that_the_baseline_showed(place: int) -> None:
    """A student at the threshold, on a machine that gives all it has once in the job and 0.96 of it otherwise."""
    at_full = [*[0.96] * 10, 1.0]
    random.Random(place).shuffle(at_full)
    opening, machine = ((1.0, [0.96] * 11), (0.96, at_full), (0.96, at_full[::-1]))[place]
    samples = sampled(0.601 * PEAK / FULL_RATE, machine, [0.96] * 10)
    verdict = judged(samples, opening=opening * FULL_RATE, thresholds=MFU, peak=PEAK)
    assert rank(verdict) == 2


# --- the interval ---


@given(st.integers(6, 500))
def test_interval_is_the_narrowest_that_covers_enough(count: int) -> None:
    low, high = median_interval(count)
    assert low + high == count - 1
    misses = [2 * sum(math.comb(count, i) for i in range(rank)) / 2**count for rank in (low + 1, low + 2)]
    assert misses[0] <= 0.05 < misses[1]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_fewer_than_five_values_have_no_interval(count: int) -> None:
    assert median_interval(5) == (0, 4)
    with pytest.raises(ValueError, match="at least 5 values"):
        median_interval(count)


# --- points ---


@pytest.mark.parametrize(
    ("tier", "points"),
    [("full", 5), ("passing", 3), (None, 0)],
)
def test_the_points_of_a_workload_follow_the_threshold_reached(tier: Tier | None, points: float) -> None:
    assert score_of(tier, points_on("cuda", course().workloads["linear_forward"])) == points


def test_no_threshold_earns_points_on_a_cpu() -> None:
    for workload in course().workloads.values():
        assert points_on("cuda", workload) == workload.points
        assert points_on("cpu", workload) == Tiers(0, 0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_rates_that_are_no_positive_numbers_are_refused(bad: float) -> None:
    for field in ("before", "after"):
        with pytest.raises(ValueError, match=f"{field} is"):
            replace(steady(1.0, 1)[0], **{field: bad})
    with pytest.raises(ValueError, match="opening is"):
        judged([], opening=bad)
    with pytest.raises(ValueError, match="peak is"):
        judged(steady(1.0), peak=bad)
    if bad != 0:
        with pytest.raises(ValueError, match="rate is"):
            Sample(bad, 1.0, 1.0)
        with pytest.raises(ValueError, match="tolerance is"):
            judged([], tolerance=bad)


@pytest.mark.parametrize("given", [(1.0, 0.0), (0.0, 1.0), (0.3, 0.3), (-0.1, 0.0), (math.nan, 0.0)])
def test_rules_that_could_double_a_ratio_are_refused(given: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="could double a ratio"):
        TimingRules(*given)
