"""Batches cut out of token data that is new for each block; on a GPU with a product after each, to hide copies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from torchkata.speed.layout import Field, Memory
from torchkata.speed.seeded import SeededInputs
from torchkata.speed.sizes import Size
from torchkata.speed.workload import CRAWL, Block, Check, Measured, Rate

WIDTH_OF_PRODUCT = 8192  # 1.1 TFLOP: about 1.5 ms on an H100
KEY_TOKENS = 4  # 64 bits: enough to tell the windows of 2²⁶ random tokens apart
SPARE = 8  # rows that may be missing by chance
LEAST_SHARE = 0.9  # of the distinct starts, and of the tokens that a batch covers, that chance brings


class BatchCheck(Check):
    """Every row is a window of the data, and rows start everywhere.

    data: [tokens]   batch: [calls, B, S]
    """

    floor = 0.0

    def __init__(self, memory: Memory, results: Memory, size: Size) -> None:
        super().__init__(memory, results, size)
        self.inputs = SeededInputs(torch.device("cpu"))

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


class GetBatchThroughput(Rate):
    """Batches reach the device about as fast as a plain gather can bring them, and while it works."""

    sizes = {
        "cpu": Size(batch=128, sequence=512, tokens=2**18),
        "cuda": Size(batch=256, sequence=4096, tokens=2**26),
    }
    unit = "tokens"
    check = BatchCheck

    def fields(self, size: Size, calls: int) -> dict[str, Field]:
        """The data for all calls."""
        return {
            "data": Field((size.tokens,), torch.uint16, "given", on_host=True),
            "batch": Field((calls, size.batch, size.sequence), torch.int64, "filled"),
        }

    def amount(self, size: Size) -> float:
        """The tokens of a batch."""
        return size.batch * size.sequence

    def student(self, assignment: Any, size: Size, memory: Memory, device: str) -> Block:
        """One batch for each call."""
        data = memory["data"].numpy()
        compute = product(device)

        def run() -> None:
            for batch in memory["batch"]:
                batch.copy_(assignment.get_batch.get_batch(data, size.batch, size.sequence, device))
                compute()

        return run

    def baseline(self, size: Size, memory: Memory, device: str) -> Block:
        """All windows of a batch at once."""
        data = memory["data"].numpy()
        windows = np.lib.stride_tricks.sliding_window_view(data, size.sequence)
        compute = product(device)

        def run() -> None:
            for batch in memory["batch"]:
                starts = torch.randint(len(windows) - 1, (size.batch,)).numpy()
                tokens = torch.from_numpy(windows[starts].astype(np.int64))
                batch.copy_(tokens.pin_memory().to(device, non_blocking=True) if device == "cuda" else tokens)
                compute()

        return run

    def remark(self, measured: Measured) -> str:
        """A loop over rows, or a copy that makes the host wait."""
        if measured.ratio < CRAWL or measured.kind == "cpu":
            return (
                f"{measured.ratio:.2f} of a plain gather: are rows cut in a Python loop? Index all of them at once: "
                "starts[:, None] + arange(sequence_length)."
            )
        return (
            f"{measured.ratio:.2f} of what overlaps perfectly: the copy makes the device wait. "
            "Use `pin_memory()`, then `.to(device, non_blocking=True)`."
        )


def product(device: str) -> Callable[[], object]:
    """On a GPU a product, queued, that copies can hide behind; on a CPU nothing."""
    if device == "cpu":
        return lambda: None
    factor = torch.ones(WIDTH_OF_PRODUCT, WIDTH_OF_PRODUCT, dtype=torch.bfloat16, device=device)
    result = torch.empty_like(factor)
    return lambda: torch.mm(factor, factor, out=result)
