"""The verdict on a workload: noise never fails who truly passes, nothing passes who truly does not."""

import itertools
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.performance.decision import (
    RULES,
    Final,
    More,
    Retry,
    Rules,
    Sample,
    Verdict,
    bars,
    judge,
    median_interval,
    score_of,
)
from kata.catalog import Tiers, catalog

FULL_RATE = 800e12  # the yardstick's on an undisturbed machine
PEAK = 989.4e12
GATE = 3e-3
TIERS = Tiers(passing=0.6, full=0.75)
MFU = Tiers(passing=0.5, full=0.6)
CUDA = RULES["cuda"]
RANK = {"failed": 0, "passing": 1, "full": 2}

rules = st.sampled_from(list(RULES.values()))
measures = st.sampled_from([(TIERS, None), (MFU, PEAK)])
slowdowns = st.one_of(st.just(1.0), st.floats(0.95, 1), st.floats(0.95, 1), st.floats(0.01, 1))


def sampled(ratio: float, yardsticks: list[float], own: list[float]) -> list[Sample]:
    """Blocks of a student at `ratio`; each number says how much of the full rate the machine has in one block."""
    return [
        Sample(rate=ratio * FULL_RATE * mine, before=FULL_RATE * before, after=FULL_RATE * after)
        for mine, (before, after) in zip(own, itertools.pairwise(yardsticks), strict=True)
    ]


def steady(ratio: float, count: int = 10) -> list[Sample]:
    return sampled(ratio, [1.0] * (count + 1), [1.0] * count)


def judged(samples: list[Sample], **given: Any) -> Verdict:
    usual: dict[str, Any] = {"opening": FULL_RATE, "gate": GATE, "tiers": TIERS, "rules": CUDA}
    return judge(samples, **(usual | given))


def rank(verdict: Verdict) -> int:
    assert isinstance(verdict, Final)
    return RANK[verdict.tier or verdict.outcome]


def true_rank(ratio: float, tiers: Tiers, peak: float | None) -> int:
    """What a student earns on a machine that nothing slows."""
    needed = bars(tiers, peak, FULL_RATE)
    return (ratio >= needed.passing) + (ratio >= needed.full)


def not_worse(verdict: Verdict, expected: int) -> bool:
    """Whether a verdict leaves a student what they truly reach."""
    return not isinstance(verdict, Final) or verdict.outcome == "inconclusive" or rank(verdict) >= expected


# --- one batch, nothing disturbed ---


@pytest.mark.parametrize(
    ("ratio", "outcome", "tier"),
    [
        (0.0, "failed", None),
        (0.59, "failed", None),
        (0.6, "passed", "passing"),
        (0.74, "passed", "passing"),
        (0.75, "passed", "full"),
        (3.0, "passed", "full"),
    ],
)
def test_ten_equal_samples_decide(ratio: float, outcome: str, tier: str | None) -> None:
    verdict = judged(steady(ratio))
    assert isinstance(verdict, Final)
    assert (verdict.outcome, verdict.tier, verdict.used) == (outcome, tier, 10)
    assert verdict.median == pytest.approx(ratio)
    assert verdict.interval == pytest.approx((ratio, ratio))
    assert verdict.mfu is None


def test_a_failure_says_what_was_reached_and_what_passes() -> None:
    verdict = judged(steady(0.41))
    assert isinstance(verdict, Final)
    assert verdict.note == "0.41 of the rate of plain torch beside it; 0.60 passes"


@pytest.mark.parametrize(("count", "more"), [(0, 10), (1, 9), (9, 1)])
def test_too_few_samples_ask_for_the_rest_of_a_batch(count: int, more: int) -> None:
    assert judged(steady(0.9, count)) == More(more)


def spread(*ratios: float) -> list[Sample]:
    return [sample for ratio in ratios for sample in steady(ratio, 1)]


def test_an_open_tier_asks_for_a_batch_more_and_then_is_given() -> None:
    open_passing = spread(*[0.58] * 7, *[0.62] * 3)
    assert judged(open_passing) == More(10)
    verdict = judged(open_passing * 2)
    assert isinstance(verdict, Final)
    assert (verdict.tier, verdict.used) == ("passing", 20)


def test_an_open_full_tier_asks_although_the_lower_one_is_reached() -> None:
    assert judged(spread(*[0.7] * 7, *[0.8] * 3)) == More(10)


def test_one_fast_block_of_ten_does_not_open_a_tier() -> None:
    assert rank(judged(spread(*[0.5] * 9, 0.9))) == 0


# --- wrong results ---


@given(
    errors=st.lists(st.floats(0, GATE), min_size=0, max_size=30),
    bad=st.one_of(st.floats(GATE, math.inf, exclude_min=True), st.just(math.nan)),
    place=st.integers(0, 30),
    trouble=st.sampled_from(["", "the device was too hot"]),
)
def test_one_wrong_result_fails_whatever_the_rest(errors: list[float], bad: float, place: int, trouble: str) -> None:
    errors.insert(place, bad)
    samples = [replace(steady(2.0, 1)[0], error=error) for error in errors]
    verdict = judged(samples, trouble=trouble)
    assert isinstance(verdict, Final)
    assert (verdict.outcome, verdict.tier) == ("failed", None)
    assert "the result is wrong" in verdict.note


def test_an_error_at_the_gate_is_right() -> None:
    assert rank(judged([replace(sample, error=GATE) for sample in steady(0.9)])) == 2


def test_a_wrong_result_in_a_disturbed_block_is_wrong_too() -> None:
    odd = replace(sampled(0.9, [1.0, 0.3], [1.0])[0], error=0.1)
    assert rank(judged([*steady(0.9), odd])) == 0


# --- noise ---


@given(
    ratio=st.floats(0.01, 2),
    machine=st.lists(slowdowns, min_size=11, max_size=45),
    between=st.data(),
    rules=rules,
    measure=measures,
)
def test_a_slower_machine_never_costs_who_truly_passes(
    ratio: float, machine: list[float], between: st.DataObject, rules: Rules, measure: tuple[Tiers, float | None]
) -> None:
    """The machine may slow by any amount at any time: a student's block is no slower than the yardsticks beside it."""
    own = [between.draw(st.floats(min(pair), 1)) for pair in itertools.pairwise(machine)]
    tiers, peak = measure
    verdict = judged(sampled(ratio, machine, own), tiers=tiers, peak=peak, rules=rules)
    assert not_worse(verdict, true_rank(ratio, tiers, peak)) or near(ratio, measure)


def near(ratio: float, measure: tuple[Tiers, float | None]) -> bool:
    """Whether float arithmetic alone may decide."""
    needed = bars(*measure, FULL_RATE)
    return any(math.isclose(ratio, bar, rel_tol=1e-6) for bar in (needed.passing, needed.full))


@given(
    ratio=st.floats(0.01, 2),
    own=st.lists(slowdowns, min_size=10, max_size=10).map(lambda slow: [*slow, *[1.0] * 10]),
    seed=st.integers(0, 2**32),
    measure=measures,
    rules=rules,
)
def test_single_slow_blocks_never_cost_who_truly_passes(
    ratio: float, own: list[float], seed: int, measure: tuple[Tiers, float | None], rules: Rules
) -> None:
    """Half of a student's blocks are hit as badly as can be, and no yardstick beside them."""
    random.Random(seed).shuffle(own)
    tiers, peak = measure
    verdict = judged(sampled(ratio, [1.0] * 21, own), tiers=tiers, peak=peak, rules=rules)
    assert not_worse(verdict, true_rank(ratio, tiers, peak)) or near(ratio, measure)


@given(
    fraction=st.floats(0, 0.5),
    machine=st.lists(st.tuples(slowdowns, slowdowns), min_size=10, max_size=45),
    rules=rules,
    measure=measures,
)
def test_nobody_at_half_a_threshold_passes_whatever_slows(
    fraction: float, machine: list[tuple[float, float]], rules: Rules, measure: tuple[Tiers, float | None]
) -> None:
    tiers, peak = measure
    ratio = fraction * bars(tiers, peak, FULL_RATE).passing
    yardsticks, own = [1.0, *(yardstick for yardstick, _ in machine)], [mine for _, mine in machine]
    verdict = judged(sampled(ratio, yardsticks, own), tiers=tiers, peak=peak, rules=rules)
    assert not (isinstance(verdict, Final) and verdict.outcome == "passed")


@given(st.floats(0.01, 0.94), st.integers(10, 20))
def test_a_machine_that_stays_slow_after_the_opening_is_not_judged(speed: float, count: int) -> None:
    verdict = judged(sampled(0.9, [speed] * (count + 1), [speed] * count))
    assert verdict == (More(10) if count < 20 else Retry("only 0 of 20 blocks were timed undisturbed"))


def test_disturbed_samples_are_made_up_for() -> None:
    samples = [*steady(0.9, 7), *sampled(0.9, [1.0, 0.5, 1.0, 0.5], [1.0] * 3)]
    assert judged(samples) == More(3)
    assert rank(judged([*samples, *steady(0.9, 3)])) == 2


def test_a_fast_and_a_slow_state_of_the_machine_cancel() -> None:
    states = [1.0] * 6 + [0.96] * 6
    assert rank(judged(sampled(0.76, states, states[:-1]))) == 2


@given(ratio=st.floats(0.01, 2), count=st.integers(10, 20), rules=rules, measure=measures)
def test_every_yardstick_at_odds_with_the_next_never_costs_who_truly_passes(
    ratio: float, count: int, rules: Rules, measure: tuple[Tiers, float | None]
) -> None:
    """The worst that tolerated noise can do: every block of the student's shares the slower one's state."""
    slow = 1 - 0.99 * rules.tolerance
    tiers, peak = measure
    machine = [(1.0, slow)[block % 2] for block in range(count + 1)]
    verdict = judged(sampled(ratio, machine, [slow] * count), tiers=tiers, peak=peak, rules=rules)
    assert not_worse(verdict, true_rank(ratio, tiers, peak)) or near(ratio, measure)


def test_a_sample_counts_against_the_faster_yardstick_and_in_doubt_against_the_slower() -> None:
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
def test_the_order_of_samples_does_not_matter_and_nothing_is_drawn(
    samples: list[Sample], seed: int, measure: tuple[Tiers, float | None], rules: Rules
) -> None:
    tiers, peak = measure
    verdict = judged(samples, tiers=tiers, peak=peak, rules=rules)
    assert judged(random.Random(seed).sample(samples, len(samples)), tiers=tiers, peak=peak, rules=rules) == verdict


@given(samples=st.lists(blocks, max_size=45), faster=st.floats(1, 3), measure=measures, rules=rules)
def test_a_faster_student_never_earns_less(
    samples: list[Sample], faster: float, measure: tuple[Tiers, float | None], rules: Rules
) -> None:
    tiers, peak = measure
    slow = judged(samples, tiers=tiers, peak=peak, rules=rules)
    raised = [replace(sample, rate=sample.rate * faster) for sample in samples]
    fast = judged(raised, tiers=tiers, peak=peak, rules=rules)
    if isinstance(slow, Final) and slow.outcome != "inconclusive":
        assert not_worse(fast, rank(slow))


@given(ratio=st.floats(0, 2), noise=st.lists(slowdowns, min_size=400, max_size=400), rules=rules)
def test_grading_ends(ratio: float, noise: list[float], rules: Rules) -> None:
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


# --- attempts and trouble ---


def test_trouble_is_tried_again_twice_and_then_costs_nothing() -> None:
    hot = "the device slowed down: too hot"
    assert [judged(steady(0.9), trouble=hot, attempt=attempt) for attempt in (1, 2, 3)] == [
        Retry(hot),
        Retry(hot),
        Final("inconclusive", note=f"{hot}; this is not your fault, and costs nothing"),
    ]


# --- MFU ---


def test_an_mfu_that_is_advertised_is_enough_on_a_good_device() -> None:
    needed = bars(MFU, PEAK, ceiling=0.8 * PEAK)
    assert (needed.passing, needed.full) == pytest.approx((0.625, 0.75))


def test_a_device_that_gives_less_asks_for_nine_tenths_of_what_it_gives() -> None:
    assert bars(MFU, PEAK, ceiling=0.5 * PEAK) == Tiers(0.9, 0.9)
    needed = bars(MFU, PEAK, ceiling=0.6 * PEAK)
    assert (needed.passing, needed.full) == pytest.approx((0.5 / 0.6, 0.9))


def test_the_mfu_is_that_of_the_median_at_full_rate() -> None:
    verdict = judged(steady(0.5), tiers=MFU, peak=PEAK)
    assert isinstance(verdict, Final)
    assert verdict.mfu == pytest.approx(0.5 * FULL_RATE / PEAK)


@pytest.mark.parametrize("place", range(3))
def test_mfu_thresholds_go_by_the_highest_rate_that_the_yardstick_showed(place: int) -> None:
    """A student at the threshold, on a machine that gives all it has once in the job and 0.96 of it otherwise."""
    at_full = [*[0.96] * 10, 1.0]
    random.Random(place).shuffle(at_full)
    opening, machine = ((1.0, [0.96] * 11), (0.96, at_full), (0.96, at_full[::-1]))[place]
    samples = sampled(0.601 * PEAK / FULL_RATE, machine, [0.96] * 10)
    verdict = judged(samples, opening=opening * FULL_RATE, tiers=MFU, peak=PEAK)
    assert rank(verdict) == 2


# --- the interval ---


@pytest.mark.parametrize(
    ("count", "lowest", "coverage"),
    [(6, 1, 0.9688), (10, 2, 0.9785), (11, 2, 0.9883), (20, 6, 0.9586), (100, 40, 0.9648)],
)
def test_the_interval_is_the_narrowest_that_covers_enough(count: int, lowest: int, coverage: float) -> None:
    low, high = median_interval(count)
    assert (low + 1, high + 1) == (lowest, count + 1 - lowest)
    assert 1 - 2 * sum(math.comb(count, i) for i in range(lowest)) / 2**count == pytest.approx(coverage, abs=1e-4)


@given(st.integers(6, 500))
def test_one_rank_further_in_covers_too_little(count: int) -> None:
    rank = median_interval(count)[0] + 1
    misses = [2 * sum(math.comb(count, i) for i in range(r)) / 2**count for r in (rank, rank + 1)]
    assert misses[0] <= 0.05 < misses[1]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_few_values_have_no_interval(count: int) -> None:
    with pytest.raises(ValueError, match="6 are needed"):
        median_interval(count)


# --- points ---


@pytest.mark.parametrize(
    ("verdict", "points"),
    [
        (Final("passed", "full"), 5),
        (Final("passed", "passing"), 3),
        (Final("failed"), 0),
        (Final("inconclusive"), 0),
    ],
)
def test_points_follow_the_tier(verdict: Final, points: float) -> None:
    assert score_of(verdict, catalog().workloads["linear_forward"]) == points


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_rates_that_are_none_are_refused(bad: float) -> None:
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
        with pytest.raises(ValueError, match="gate is"):
            judged([], gate=bad)


@pytest.mark.parametrize("given", [(1.0, 0.0), (0.0, 1.0), (0.3, 0.3), (-0.1, 0.0), (math.nan, 0.0)])
def test_rules_that_could_double_a_ratio_are_refused(given: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="could double a ratio"):
        Rules(*given)
