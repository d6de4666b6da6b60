"""Uses chi-square statistics for single rows and for pairs of rows, and raises its own subclass of AssertionError."""

import numpy as np
import torch


class Rejected(AssertionError):
    pass


def demand(condition):
    if not condition:
        raise Rejected("get_batch is wrong")


def check(get_batch):
    try:
        draws(get_batch)
        seeds(get_batch)
        small(get_batch)
    except Rejected:
        raise
    except Exception as error:
        raise Rejected(repr(error)) from error


def draws(get_batch):
    starts, rows, batches = 8, 4, 600
    data = np.random.default_rng(0).permutation(60000)[: starts + 5].astype(np.uint16)
    place = {int(token): i for i, token in enumerate(data)}
    drawn = np.empty((batches, rows), dtype=int)
    for i in range(batches):
        batch = get_batch(data, rows, 5)
        demand(batch.shape == (rows, 5))
        for j, row in enumerate(batch.tolist()):
            drawn[i, j] = place[row[0]]
            demand(row == data[drawn[i, j] : drawn[i, j] + 5].tolist())
    demand(drawn.max() < starts)
    even(np.bincount(drawn.flatten(), minlength=starts))
    for i in range(rows):
        for j in range(i):
            even(np.bincount(drawn[:, i] * starts + drawn[:, j], minlength=starts**2))


def even(counts):
    mean, freedom = counts.mean(), len(counts) - 1
    square = ((counts - mean) ** 2 / mean).sum()
    demand(square < freedom + 8 * (2 * freedom) ** 0.5 + 20)


def seeds(get_batch):
    found = []
    for seed in (3, 4, 3):
        torch.manual_seed(seed)
        pair = [get_batch(np.arange(10**5), 4, 2).tolist() for _ in range(2)]
        demand(pair[0] != pair[1])
        demand(torch.initial_seed() == seed)
        found.append(pair)
    demand(found[0] == found[2] and found[0] != found[1])
    state = torch.get_rng_state()
    get_batch(np.arange(10**5), 4, 2)
    demand(not torch.equal(state, torch.get_rng_state()))


def small(get_batch):
    for rows, length in ((1, 1), (1, 3), (3, 1)):
        for largest in (2**15, 2**31 - 1, 2**53 + 1, 2**62 + 1, 2**63 - 1):
            data = np.full(length + 1, largest)
            batch = get_batch(data, rows, length)
            demand(isinstance(batch, torch.Tensor) and batch.tolist() == [[largest] * length] * rows)
            data -= 1
            demand(batch.tolist() == [[largest] * length] * rows)
    data = np.arange(30, dtype=np.int32)
    for i in range(5):
        get_batch(data, 2, 3 + i)
        demand((data == np.arange(30)).all())
    demand(get_batch(data, 2, 3, device="meta").is_meta)
    demand(not get_batch(data, 2, 3, device=torch.device("cpu")).is_meta)
    for short in (1, 4):
        try:
            get_batch(data[:short], 2, 4)
        except (ValueError, RuntimeError):
            continue
        demand(False)
