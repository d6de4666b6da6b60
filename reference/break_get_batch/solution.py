"""Tests for get_batch."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

STARTS, DRAWS = 12, 3000
SIGMAS = 6  # allowed difference of a count from its mean, in standard deviations; 1 of 500 million counts exceeds it


def check(get_batch: Callable[..., Tensor]) -> None:
    """Run all tests. If get_batch raises an unexpected exception, convert it to an AssertionError."""
    try:
        check_form(get_batch)
        check_tokens(get_batch)
        check_starts(get_batch)
        check_rows(get_batch)
        check_generator(get_batch)
        check_device(get_batch)
        check_data(get_batch)
        check_short_data(get_batch)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"get_batch raises {type(error).__name__}: {error}") from error


def check_form(get_batch: Any) -> None:
    """Assert that a batch is an integer tensor with two dimensions, even if both have size 1."""
    for batch_size, length in ((3, 5), (1, 4), (4, 1), (1, 1), (40, 2)):
        batch = get_batch(np.arange(20), batch_size, length)
        assert isinstance(batch, Tensor), "not a tensor"
        assert tuple(batch.shape) == (batch_size, length), "shape"
        assert not batch.is_floating_point() and not batch.is_complex() and batch.dtype != torch.bool, "dtype"


def check_tokens(get_batch: Any) -> None:
    """Assert that rows are windows of the data, even if the tokens are as large as their dtype allows."""
    for dtype in (np.uint16, np.int32, np.int64):
        most = np.iinfo(dtype).max
        for data in (most - np.arange(9, dtype=dtype) ** 2, np.array([7, 1, 8, 2, 8, 40000, 3], dtype)):
            windows = [data[start : start + 3].tolist() for start in range(len(data) - 3)]
            for row in get_batch(data, 50, 3).tolist():
                assert row in windows, "not a window"


def draw_starts(get_batch: Any, batch_size: int, starts: int) -> list[int]:
    """Return the start position of each row of a batch."""
    return [row[0] for row in get_batch(np.arange(starts + 4), batch_size, 4).tolist()]


def assert_even(values: list[int], outcomes: range, what: str) -> None:
    """Assert that all outcomes occur about equally often."""
    counts, p = Counter(values), 1 / len(outcomes)
    assert {*counts} <= {*outcomes}, f"{what}: an impossible value"
    deviation = (len(values) * p * (1 - p)) ** 0.5
    for outcome in outcomes:
        assert abs(counts[outcome] - len(values) * p) < SIGMAS * deviation, f"{what}: {outcome} is too frequent or rare"


def check_starts(get_batch: Any) -> None:
    """Assert that all start positions occur about equally often."""
    assert_even(draw_starts(get_batch, DRAWS, STARTS), range(STARTS), "starts")
    assert draw_starts(get_batch, 3, 1) == [0, 0, 0], "the only possible start"


def check_rows(get_batch: Any) -> None:
    """Assert that the distance between the starts of two rows of a batch is uniformly distributed."""
    batches = [draw_starts(get_batch, 4, STARTS) for _ in range(700)]
    for first, second in ((0, 1), (1, 2), (0, 3)):
        distances = [(batch[second] - batch[first]) % STARTS for batch in batches]
        assert_even(distances, range(STARTS), "distances")
    assert_even([batch[0] for batch in batches], range(STARTS), "first rows")


def check_generator(get_batch: Any) -> None:
    """Assert that the starts depend on torch's random generator and on nothing else."""
    state = torch.get_rng_state()

    def draw(seed: int, other: int) -> tuple[list[int], list[int], float]:
        random.seed(other)
        np.random.seed(other)
        torch.manual_seed(seed)
        first, second = (draw_starts(get_batch, 8, 10**4) for _ in range(2))
        assert torch.initial_seed() == seed, "get_batch sets the seed"
        return first, second, float(torch.rand(()))

    first, second, number = draw(5, 1)
    assert draw(5, 2) == (first, second, number), "the same seed gives another batch"
    assert first != second, "two calls in a row give the same batch"
    third, fourth, other = draw(6, 1)
    assert third != first and fourth != second and other != number, "another seed gives the same batch"
    torch.set_rng_state(state)


def check_device(get_batch: Any) -> None:
    """Assert that the batch is on the requested device."""
    for device in ("meta", torch.device("meta"), "cpu", torch.device("cpu")):
        batch = get_batch(np.arange(9), 2, 3, device=device)
        assert batch.device.type == torch.device(device).type, "device"


def check_data(get_batch: Any) -> None:
    """Assert that the data is not changed and shares no memory with the batch."""
    for batch_size in (1, 2):
        for dtype in (np.uint16, np.int32, np.int64):
            data = np.arange(50, dtype=dtype)
            batch = get_batch(data, batch_size, 4)
            assert (data == np.arange(50)).all(), "the data is changed"
            before = batch.tolist()
            data[:] = 99
            assert batch.tolist() == before, "the batch shares memory with the data"


def check_short_data(get_batch: Any) -> None:
    """Assert that data too short for a window and its target is rejected."""
    for length in (0, 2, 3):
        try:
            get_batch(np.arange(length), 2, 3)
        except (ValueError, RuntimeError):
            continue
        raise AssertionError("data that is too short is accepted")
