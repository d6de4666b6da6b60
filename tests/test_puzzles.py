"""Tests for the functions of the kata puzzles."""

from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.puzzles import oracle
from tests.probes import puzzles as probes
from tests.probes.untouched import arguments_after
from tests.strategies import DTYPES, SEEDS, SIZES, WIDE_DTYPES, normal, rng_of, sizes
from torchkata import Plain, Student, Text, as_float64, assert_close, assert_equal, check

TAKES: dict[str, list[Any]] = {
    **{"upsample": [2], "average_pool": [2], "channels_first": [], "patches": [2]},
    **{"outer": [torch.ones(2, 2, 2)], "squared_distances": [torch.ones(2, 2, 2)], "traces": [], "rms_norm": [0.5]},
}  # what each function takes after its first input
LEADING = st.lists(sizes(2, 3, 0), min_size=0, max_size=2)
EDGES = sizes(2, 3, 0)  # height or width of images and matrices, in patches
FACTORS = sizes(2, 3)
MOVED = st.sampled_from([torch.int64, torch.float32, torch.uint8])

# for scales; a mistake replaces only names in `oracle`
mean_scale, embedding_scale, outer_scale = oracle.average_pool, oracle.patch_embedding, oracle.outer
distance_scale, trace_scale, norm_scale = oracle.squared_distances, oracle.traces, oracle.rms_norm


def numbered(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return 0, 1, 2, … in the given shape."""
    return torch.arange(int(np.prod(shape))).reshape(shape).to(dtype)


def assert_moved(yours: Plain, expected: Plain) -> None:
    """Compare the result with the oracle's array, which has the dtype of the input."""
    assert_equal(yours, torch.from_numpy(np.ascontiguousarray(expected)))


@given(LEADING, EDGES, sizes(3, 4, 0), FACTORS, MOVED)
def test_upsample_repeats_each_pixel(
    student: Student, leading: list[int], h: int, w: int, n: int, dtype: torch.dtype
) -> None:
    """upsample(x, n) makes each pixel an n × n square of copies, in x's dtype, for any leading dimensions."""
    x = numbered(*leading, h, w, dtype=dtype)
    assert_moved(student.call("puzzles.upsample", x, n), oracle.upsample(x.numpy(), n))


@given(LEADING, EDGES, sizes(3, 4, 0), FACTORS, DTYPES, SEEDS)
def test_average_pool_averages_squares(
    student: Student, leading: list[int], h: int, w: int, n: int, dtype: torch.dtype, seed: int
) -> None:
    """average_pool(x, n) cuts x into n × n squares and averages each in x's dtype, for any leading dimensions."""
    x = normal(rng_of(seed), [*leading, h * n, w * n], dtype)
    exact = as_float64(x)
    y = student.call("puzzles.average_pool", x, n)
    assert_close(y, oracle.average_pool(exact, n), dtype=dtype, scale=mean_scale(abs(exact), n))


@given(LEADING, EDGES, sizes(3, 4, 0), sizes(4, 4), MOVED)
def test_channels_come_first(student: Student, leading: list[int], h: int, w: int, c: int, dtype: torch.dtype) -> None:
    """channels_first(x)[..., c, h, w] is x[..., h, w, c], in x's dtype."""
    x = numbered(*leading, h, w, c, dtype=dtype)
    assert_moved(student.call("puzzles.channels_first", x), oracle.channels_first(x.numpy()))


@given(LEADING, EDGES, sizes(3, 3, 0), FACTORS, sizes(1, 3), MOVED)
def test_patches_are_flattened_row_by_row(
    student: Student, leading: list[int], h: int, w: int, n: int, c: int, dtype: torch.dtype
) -> None:
    """patches(x, n) lists the n × n patches row by row in one dimension, each flattened by rows, columns, channels."""
    x = numbered(*leading, h * n, w * n, c, dtype=dtype)
    assert_moved(student.call("puzzles.patches", x, n), oracle.patches(x.numpy(), n))


@given(st.tuples(sizes(1, 2, 0), EDGES, sizes(2, 3)), FACTORS, sizes(1, 3), SIZES, SEEDS)
def test_patch_embedding_multiplies_each_patch(
    student: Student, shape: tuple[int, int, int], n: int, c: int, dim: int, seed: int
) -> None:
    """patch_embedding(…) is an nn.Sequential that cuts patches as patches(x, n) does and applies an nn.Linear."""
    (batch, h, w), rng = shape, rng_of(seed)
    weight, bias, images = normal(rng, [dim, n * n * c]), normal(rng, [dim]), normal(rng, [batch, h * n, w * n, c])
    reply = student.call(probes.embed, n, c, dim, weight, bias, images)
    check(reply["is a Sequential"], Text("the result should be an nn.Sequential"))
    x, factor, addend = as_float64(images), as_float64(weight), as_float64(bias)
    scale = embedding_scale(abs(x), n, abs(factor), abs(addend))
    assert_close(reply["y"], oracle.patch_embedding(x, n, factor, addend), scale=scale)


@given(LEADING, EDGES, sizes(3, 4, 0), DTYPES, SEEDS)
def test_outer_multiplies_all_pairs(
    student: Student, leading: list[int], rows: int, columns: int, dtype: torch.dtype, seed: int
) -> None:
    """outer(x, y)[..., i, j] is x[..., i] * y[..., j], in the inputs' dtype, for any leading dimensions."""
    rng = rng_of(seed)
    x, y = normal(rng, [*leading, rows], dtype), normal(rng, [*leading, columns], dtype)
    a, b = as_float64(x), as_float64(y)
    products = student.call("puzzles.outer", x, y)
    assert_close(products, oracle.outer(a, b), dtype=dtype, scale=outer_scale(abs(a), abs(b)))


@given(LEADING, EDGES, EDGES, sizes(4), WIDE_DTYPES, SEEDS)
def test_distances_are_between_all_rows(
    student: Student, leading: list[int], rows: int, columns: int, d: int, dtype: torch.dtype, seed: int
) -> None:
    """squared_distances(x, y)[..., i, j] is the sum of (x[..., i, :] - y[..., j, :])**2, in the inputs' dtype."""
    rng = rng_of(seed)
    x, y = normal(rng, [*leading, rows, d], dtype), normal(rng, [*leading, columns, d], dtype)
    a, b = as_float64(x), as_float64(y)
    scale = distance_scale(abs(a), -abs(b))
    distances = student.call("puzzles.squared_distances", x, y)
    assert_close(distances, oracle.squared_distances(a, b), dtype=dtype, scale=scale)


@given(LEADING, sizes(2, 4, 0), DTYPES, SEEDS)
def test_traces_sum_diagonals(student: Student, leading: list[int], rows: int, dtype: torch.dtype, seed: int) -> None:
    """traces(x) is the sum of the diagonal of each matrix, in x's dtype, for any leading dimensions."""
    x = normal(rng_of(seed), [*leading, rows, rows], dtype)
    exact = as_float64(x)
    y = student.call("puzzles.traces", x)
    assert_close(y, oracle.traces(exact), dtype=dtype, scale=trace_scale(abs(exact)))


@given(LEADING, SIZES, SEEDS)
def test_one_hot_is_true_at_label(student: Student, leading: list[int], classes: int, seed: int) -> None:
    """one_hot(labels, classes) appends a dimension of that many bools: True at the label, False elsewhere."""
    labels = rng_of(seed).integers(0, classes, leading)
    yours = student.call("puzzles.one_hot", torch.from_numpy(np.asarray(labels)), classes)
    assert_moved(yours, oracle.one_hot(labels, classes))


@given(sizes(3, 8, 0), sizes(2, 9))
def test_window_mask_allows_nearest_keys(student: Student, n: int, window: int) -> None:
    """window_mask(n, window)[query, key] is True where key is 0 to window - 1 positions before query, else False."""
    assert_moved(student.call("puzzles.window_mask", n, window), oracle.window_mask(n, window))


@given(LEADING, SIZES, WIDE_DTYPES, st.sampled_from([1e-5, 1e-2, 1.0]), SEEDS)
def test_rms_norm_divides_by_root_mean_square(
    student: Student, leading: list[int], d: int, dtype: torch.dtype, eps: float, seed: int
) -> None:
    """rms_norm(x, eps) divides each row by sqrt(mean(x**2) + eps), in x's dtype."""
    rng = rng_of(seed)
    x = normal(rng, [*leading, d]) * torch.from_numpy(10.0 ** rng.uniform(-3, 1, [*leading, 1]))
    x = x.to(dtype)
    exact = as_float64(x)
    y = student.call("puzzles.rms_norm", x, eps)
    assert_close(y, oracle.rms_norm(exact, eps), dtype=dtype, scale=norm_scale(abs(exact), eps))


@given(st.sampled_from([*TAKES]), SEEDS)
def test_inputs_are_not_modified(student: Student, name: str, seed: int) -> None:
    """No function modifies its inputs."""
    before = [normal(rng_of(seed), [2, 2, 2]), *TAKES[name]]
    after = student.call(arguments_after, f"puzzles.{name}", before)
    assert_equal(after, before, what="arguments", mistake=Text("{name} modifies its input in place", name=name))
