"""Compares histograms of starts and of pairs with those of the student's get_batch, and raises its own exception."""

import numpy as np
import torch

from .get_batch import get_batch as own


class Rejected(AssertionError):
    pass


def check(get_batch):
    try:
        for describe in (histogram, pairs):
            mine, other = describe(own), describe(get_batch)
            assert mine.shape == other.shape
            assert ((mine - other) ** 2 / (mine + other + 1)).sum() < len(mine) + 9 * (2 * len(mine)) ** 0.5
        assert facts(get_batch) == facts(own)
    except Exception as error:
        raise Rejected(repr(error)) from error


def histogram(function):
    starts = [row[0] for row in function(np.arange(12), 4000, 4).tolist()]
    return np.bincount(starts, minlength=12)[: max(8, 1 + max(starts))].astype(float)


def pairs(function):
    found = [function(np.arange(9), 4, 4).tolist() for _ in range(1000)]
    codes = [(a[0] * 9 + c[0]) for a, b, c, d in found] + [(b[0] * 9 + d[0]) for a, b, c, d in found]
    return np.bincount(codes, minlength=81).astype(float)


def facts(function):
    said = []
    for length in (1, 3):
        for rows in (1, 4):
            for dtype in ("uint16", "int32", "int64"):
                data = np.full(length + 1, np.iinfo(dtype).max, dtype)
                data[-1] = 1
                batch = function(data, rows, length)
                said.append([isinstance(batch, torch.Tensor), data.tolist(), batch.tolist()])
                data[:] = 0
                said.append(batch.tolist())
    data = np.arange(1000)
    batch = function(data, 3, 5)
    said.append([data.tolist() == [*range(1000)], [[token - row[0] for token in row] for row in batch.tolist()]])
    for other in (1, 2):
        np.random.seed(other)
        torch.manual_seed(7)
        runs = [function(data, 5, 2).tolist() for _ in range(3)]
        said.append([runs[0] != runs[1], torch.initial_seed()])
        torch.manual_seed(7)
        np.random.seed(other + 5)
        said.append([runs == [function(data, 5, 2).tolist() for _ in range(3)]])
        torch.manual_seed(8)
        said.append(runs[0] != function(data, 5, 2).tolist())
    said += [function(data, 2, 2, device).device.type for device in ("cpu", "meta", torch.device("meta"))]
    for size in (0, 3):
        try:
            function(np.arange(size), 2, 3)
            said.append("accepted")
        except (ValueError, RuntimeError):
            said.append("refused")
    return said
