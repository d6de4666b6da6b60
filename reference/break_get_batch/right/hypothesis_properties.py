"""Lets Hypothesis draw the data and the sizes, and counts the start positions in fixed data."""

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

QUIET = settings(
    max_examples=30, derandomize=True, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
DTYPES = st.sampled_from(["uint16", "int32", "int64"])


def check(get_batch):
    @QUIET
    @given(DTYPES, st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
    def rows_are_windows(dtype, rows, length, starts, seed):
        rng = np.random.default_rng(seed)
        data = rng.integers(0, np.iinfo(dtype).max, starts + length, dtype, endpoint=True)
        kept = data.copy()
        torch.manual_seed(seed)
        batch = get_batch(data, rows, length)
        assert torch.initial_seed() == seed
        assert (data == kept).all()
        data[:] = data[::-1] ^ 1
        assert tuple(batch.shape) == (rows, length)
        assert all(row in [kept[i : i + length].tolist() for i in range(starts)] for row in batch.tolist())
        torch.manual_seed(seed)
        np.random.seed(seed % 1000)
        assert get_batch(kept, rows, length).tolist() == batch.tolist()

    @QUIET
    @given(st.integers(0, 5), st.integers(1, 4))
    def short_data_is_refused(missing, length):
        try:
            get_batch(np.arange(max(0, length - missing)), 2, length)
        except (ValueError, RuntimeError):
            return
        raise AssertionError("short data")

    try:
        rows_are_windows()
        short_data_is_refused()
        counts(get_batch)
    except BaseException as error:
        if isinstance(error, (AssertionError, KeyboardInterrupt)):
            raise
        raise AssertionError(repr(error)) from error


def counts(get_batch):
    rows, starts = 3000, 6
    torch.manual_seed(rows)
    single = np.bincount([row[0] for row in get_batch(np.arange(starts + 4), rows, 4).tolist()], minlength=starts)
    assert len(single) == starts and abs(single - rows / starts).max() < 130
    pairs = np.zeros((starts, starts))
    for _ in range(1500):
        batch = get_batch(np.arange(starts + 4), 3, 4).tolist()
        pairs[batch[0][0], batch[2][0]] += 1
        pairs[batch[1][0], batch[2][0]] += 1
    assert pairs.min() > 10 and pairs.max() < 190
    batches = [get_batch(np.arange(10**6), 4, 2).tolist() for _ in range(2)]
    assert batches[0] != batches[1]
    assert get_batch(np.arange(9), 2, 3, device="meta").device == torch.device("meta")
    assert get_batch(np.arange(9), 2, 3, device=torch.device("cpu")).device == torch.device("cpu")
