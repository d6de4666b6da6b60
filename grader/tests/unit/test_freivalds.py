"""Tests of Freivalds' algorithm for checking a matrix product: its error estimate and its tolerance."""

import math
import random
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from torchkata.inside.speed import freivalds
from torchkata.inside.speed.freivalds import floor, random_signs, relative_error, tolerance

M, K, N = 96, 1024, 80
BF16 = torch.bfloat16
sides = st.integers(1, 60)
FLOATS = [BF16, torch.float16, torch.float32]


def draw(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def make_operands(dtype: torch.dtype, seed: int = 0) -> tuple[Tensor, Tensor]:
    return draw(seed, M, K, dtype=dtype), draw(seed + 1, K, N, dtype=dtype)


def compute_exact_error(a: Tensor, b: Tensor, c: Tensor) -> float:
    return float((c.double() - a.double() @ b.double()).norm() / c.double().norm())


@given(sides, sides, sides, st.integers(0, 2**32), st.sampled_from([1e-6, 1e-3, 0.1]))
def test_estimated_error_is_near_exact_error(m: int, k: int, n: int, seed: int, size: float) -> None:
    a, b = draw(seed, m, k), draw(seed + 1, k, n)
    c = a @ b + size * draw(seed + 2, m, n)
    estimate = relative_error(a, b, c, vectors=256, entropy=random.Random(seed).randbytes)
    assert estimate == pytest.approx(compute_exact_error(a, b, c), rel=0.4)


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1)])
def test_exact_product_has_no_error(m: int, k: int, n: int) -> None:
    a, b = draw(0, m, k).round(), draw(1, k, n).round()
    assert relative_error(a, b, a @ b) == 0.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("everywhere", [True, False])
def test_nan_or_inf_makes_error_infinite(bad: float, everywhere: bool) -> None:
    a, b = make_operands(BF16)
    c = a @ b
    c[slice(None) if everywhere else (M - 1, N - 1)] = bad
    assert relative_error(a, b, c) == math.inf


def test_all_zero_product_has_infinite_error() -> None:
    a, b = make_operands(torch.float32)
    assert relative_error(a, b, torch.zeros(M, N)) == math.inf
    assert relative_error(torch.zeros(M, K), b, torch.zeros(M, N)) == 0.0
    assert relative_error(torch.zeros(M, K), b, torch.ones(M, N)) >= 0.5


@pytest.mark.parametrize("chunk", [1, 100, 3 * K, 2**24])
def test_chunking_limits_memory_without_changing_error(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    a, b = make_operands(BF16)
    c = a @ b
    whole = relative_error(a, b, c, entropy=random.Random(0).randbytes)
    monkeypatch.setattr(freivalds, "CHUNK", chunk)
    copied: list[int] = []
    double = Tensor.double
    monkeypatch.setattr(Tensor, "double", lambda x: copied.append(x.numel()) or double(x))  # type: ignore[func-returns-value]
    assert relative_error(a, b, c, entropy=random.Random(0).randbytes) == pytest.approx(whole, rel=1e-9)
    assert max(copied[1:]) <= max(chunk, K)  # the first ones are the signs


def test_random_signs_are_unbiased_and_independent() -> None:
    first, second = random_signs(2000, 8), random_signs(2000, 8)
    assert first.shape == (2000, 8)
    assert set(first.flatten().tolist()) == {-1.0, 1.0}
    assert not torch.equal(first, second)
    correlations = (first.T @ first / 2000 - torch.eye(8, dtype=torch.float64)).abs()
    assert float(correlations.max()) < 0.2  # nine standard deviations
    assert float(first.mean(0).abs().max()) < 0.2
    assert random_signs(0, 8).shape == (0, 8)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("m", "k", "n"), [(M, K, N), (1, 1, 50), (50, 1, 1), (1, 4096, 50), (30, 2, 30)])
@pytest.mark.parametrize("mean", [0.0, 3.0])
def test_correct_product_passes_check(dtype: torch.dtype, m: int, k: int, n: int, mean: float) -> None:
    a, b = (draw(5, m, k) + mean).to(dtype), (draw(6, k, n) + mean).to(dtype)
    assert relative_error(a, b, a @ b, entropy=random.Random(7).randbytes) <= tolerance(dtype, k, own=0.0)


def sum_in_bfloat16(a: Tensor, b: Tensor) -> Tensor:
    total = torch.zeros(M, N, dtype=BF16)
    for start in range(0, K, K // 16):
        total += (a[:, start : start + K // 16].float() @ b[start : start + K // 16].float()).to(BF16)
    return total


def leave_out_row(a: Tensor, b: Tensor) -> Tensor:
    c = a @ b
    c[M // 2] = 0
    return c


def use_previous_batch(_a: Tensor, b: Tensor) -> Tensor:
    return draw(9, M, K, dtype=BF16) @ b


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wrong", [sum_in_bfloat16, leave_out_row, use_previous_batch])
def test_incorrect_product_fails_check(wrong: Callable[[Tensor, Tensor], Tensor], seed: int) -> None:
    a, b = make_operands(BF16, 10 * seed)
    own = relative_error(a, b, a @ b)
    assert relative_error(a, b, wrong(a, b)) > tolerance(BF16, K, own)


def test_tf32_operands_fail_float32_check() -> None:
    a, b = make_operands(torch.float32)
    tf32 = [(x.view(torch.int32) + 0x1000 & ~0x1FFF).view(torch.float32) for x in (a, b)]
    assert relative_error(a, b, tf32[0] @ tf32[1]) > 100 * tolerance(torch.float32, K, relative_error(a, b, a @ b))


def test_tolerance_adapts_to_less_accurate_baseline() -> None:
    assert tolerance(BF16, K, own=4e-3) == pytest.approx(5.52e-3)
    for own in (0.0, 1e-3, math.nan, math.inf):
        assert tolerance(BF16, K, own) == floor(BF16, K) == pytest.approx(3e-3, rel=0.01)
    assert floor(BF16, 1) == pytest.approx(floor(BF16, 32768), rel=0.01)
