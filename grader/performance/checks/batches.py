"""Batches cut out of token data that is new for each block."""

import numpy as np
import torch

from grader.performance.checks.nonce import Nonce
from kata.speed.layout import Memory
from kata.speed.sizes import Size

KEY_TOKENS = 3  # 48 bits: enough to tell the windows of a few million random tokens apart


class BatchCheck:
    """Every row is a window of the data, and rows start everywhere.

    data: [tokens]   batch: [calls, B, S]
    """

    floor = 0.0

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.size = size
        self.nonce = Nonce(torch.device("cpu"))

    def prepare(self) -> None:
        """Data to begin with."""
        self.refresh()

    def begun(self) -> None:
        """Nothing to take in."""

    def refresh(self) -> None:
        """New data."""
        self.nonce.renew()
        drawn = torch.randint(2**16, (self.size.tokens,), generator=self.nonce.generator, dtype=torch.int32)
        self.data = drawn.numpy().astype(np.uint16)
        self.memory["data"].numpy()[:] = self.data
        self.memory["batch"].fill_(-1)

    def error(self) -> float:
        """0 if all is well, else infinite."""
        rows = self.results["batch"].cpu().flatten(0, 1).numpy()
        keys = self.keys(self.data.astype(np.int64))
        order = np.argsort(keys)
        found = np.searchsorted(keys, self.keys(rows[:, :KEY_TOKENS])[:, 0], sorter=order)
        starts = order[np.minimum(found, len(order) - 1)]
        last = len(self.data) - self.size.sequence
        if (starts >= last).any():
            return float("inf")
        windows = np.lib.stride_tricks.sliding_window_view(self.data, self.size.sequence)
        same = all(np.array_equal(windows[start], row) for start, row in zip(starts, rows, strict=True))
        expected = last * -np.expm1(len(rows) * np.log1p(-1 / last))  # distinct starts of so many draws
        return 0.0 if same and len(np.unique(starts)) > expected / 2 else float("inf")

    def keys(self, tokens: np.ndarray) -> np.ndarray:
        """A number for each place, made of the tokens that follow it."""
        width = tokens.shape[-1] - KEY_TOKENS + 1
        return sum((tokens[..., i : i + width] << 16 * i for i in range(KEY_TOKENS)), np.zeros((), np.int64))
