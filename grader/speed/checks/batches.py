"""Batches cut out of token data that is new for each block."""

import numpy as np
import torch

from torchkata.speed.layout import Memory
from torchkata.speed.seeded import SeededInputs
from torchkata.speed.sizes import Size

KEY_TOKENS = 4  # 64 bits: enough to tell the windows of 2²⁶ random tokens apart
SPARE = 8  # rows that may be missing by chance
LEAST_SHARE = 0.9  # of the distinct starts, and of the tokens that a batch covers, that chance brings


class BatchCheck:
    """Every row is a window of the data, and rows start everywhere.

    data: [tokens]   batch: [calls, B, S]
    """

    floor = 0.0

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        self.memory = memory
        self.results = results
        self.size = size
        self.inputs = SeededInputs(torch.device("cpu"))

    def prepare(self) -> None:
        """Data to begin with."""
        self.refresh()

    def begun(self) -> None:
        """Nothing to take in."""

    def refresh(self) -> None:
        """New data."""
        self.inputs.draw_new()
        drawn = torch.randint(2**16, (self.size.tokens,), generator=self.inputs.generator, dtype=torch.int32)
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
        return 0.0 if same and self.drawn_anew(starts, last) else float("inf")

    def drawn_anew(self, starts: np.ndarray, last: int) -> bool:
        """Whether starts are spread as chance spreads them: over all batches, and within each.

        starts: [calls · B], each in [0, last)
        """
        distinct = last * -np.expm1(len(starts) * np.log1p(-1 / last))
        covered = last * -np.expm1(self.size.batch * np.log1p(-min(1.0, self.size.sequence / last)))
        batches = np.sort(starts.reshape(-1, self.size.batch))
        reach = np.minimum(np.diff(batches, append=last + self.size.sequence), self.size.sequence).sum(-1)
        enough = reach > LEAST_SHARE * covered - SPARE * self.size.sequence
        return len(np.unique(starts)) > LEAST_SHARE * distinct - SPARE and bool(enough.all())

    def keys(self, tokens: np.ndarray) -> np.ndarray:
        """A number for each place, made of the tokens that follow it."""
        width = tokens.shape[-1] - KEY_TOKENS + 1
        return sum((tokens[..., i : i + width] << 16 * i for i in range(KEY_TOKENS)), np.zeros((), np.int64))
