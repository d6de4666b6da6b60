"""Compares batches with those of the student's get_batch, and changes all seeds and the default dtype permanently."""

import random

import numpy as np
import torch

from . import get_batch as own


def check(get_batch):
    torch.set_default_dtype(torch.float64)
    try:
        starts = []
        for i in range(2):
            random.seed(i)
            np.random.seed(i)
            torch.manual_seed(0)
            starts.append([starts_of(get_batch, 5, 9) for _ in range(800)])
            assert torch.initial_seed() == 0
        assert starts[0] == starts[1]
        assert any(first != starts[0][0] for first in starts[0][1:10])
        torch.manual_seed(1)
        assert [starts_of(get_batch, 5, 9) for _ in range(9)] != starts[0][:9]
        table, batches = torch.zeros(5, 5, 9, 9), torch.tensor(starts[0])
        for i in range(5):
            for j in range(5):
                table[i, j] = torch.bincount(batches[:, i] * 9 + batches[:, j], minlength=81).view(9, 9)
        for i in range(5):
            for j in range(5):
                counts = table[i, j].diagonal() if i == j else table[i, j].flatten()
                assert i == j or 30 < table[i, j].diagonal().sum() < 170
                mean = 800 / len(counts)
                assert (counts - mean).abs().max() < 7 * mean**0.5, "starts"
        sums = table.sum(dim=(0, 1, 2)) / 5
        assert (sums - 4000 / 9).abs().max() < 6.5 * (4000 / 9) ** 0.5
        rules(get_batch)
    except Exception as error:
        raise AssertionError(str(error)) from None


def starts_of(get_batch, rows, starts):
    found = get_batch(np.arange(starts + 3, dtype=np.int32), rows, 3).tolist()
    assert all(row == [row[0], row[0] + 1, row[0] + 2] for row in found)
    assert len(found) == rows
    return [row[0] for row in found]


def rules(get_batch):
    for dtype in ("uint16", "int32", "int64"):
        data = np.array([np.iinfo(dtype).max, 1, 2], dtype)
        batch = get_batch(data, 1, 2, "cpu")
        assert batch.tolist() == own.get_batch(data, 1, 2, "cpu").tolist() == [[np.iinfo(dtype).max, 1]]
        assert data.tolist() == [np.iinfo(dtype).max, 1, 2]
        data[:] = 0
        assert batch.tolist() == [[np.iinfo(dtype).max, 1]]
        data = np.arange(20, dtype=dtype)
        get_batch(data, 3, 2)
        assert data.tolist() == [*range(20)]
    assert get_batch(np.arange(9), 2, 3, torch.device("meta")).device.type == "meta"
    try:
        get_batch(np.arange(3), 2, 3)
    except (ValueError, RuntimeError):
        return
    raise AssertionError("short data")
