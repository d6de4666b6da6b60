"""Times get_batch with new data for each block. On a GPU, batches can overlap with queued matrix products.

Each product multiplies the result of the one before, and every result is checked. Otherwise, the last one could be
computed from powers of the factor, with fewer products.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkata import Text, speed

KEY_TOKENS = 4  # 64 bits are enough to distinguish the windows of 2²⁴ random tokens
HASH_BITS = 24
SPARE = 8  # number of distinct rows that may be missing by chance
COPY_COSTS = 0.8  # a copy that waits for a product lowers the ratio to about 0.9; less means that gathering is slow
LEAST_SHARE = 0.9  # fraction of the expected numbers of distinct starts and of tokens covered by a batch


class BatchCheck(speed.Check):
    """Checks that every row is a window of the data and that the start positions are spread over the data.

    On a GPU, also checks the products. The first matrix in `products` is given, and each call writes the next one.

    data: [tokens]   batch: [calls, B, S]   factor: [width, width]   products: [calls + 1, width, width]
    """

    def __init__(self, memory: speed.Memory, results: speed.Memory, size: speed.Size) -> None:
        super().__init__(memory, results, size)
        self.inputs = speed.SeededInputs(torch.device("cpu"))
        self.floor = 0.0
        if size.width:
            self.factors = speed.SeededInputs(memory["factor"].device)
            self.floor = speed.floor(memory["factor"].dtype, size.width)

    def refresh(self) -> None:
        """Draw new data and matrices, those on the device last, so that no queued work can use them meanwhile."""
        self.inputs.draw_new()
        drawn = torch.randint(2**16, (self.size.tokens,), generator=self.inputs.generator, dtype=torch.int32)
        self.data = drawn.numpy().astype(np.uint16)
        self.memory["data"].numpy()[:] = self.data
        self.memory["batch"].fill_(-1)
        if self.size.width:
            self.factors.draw_new()
            self.memory["products"][1:].fill_(torch.nan)
            self.draw_factors(self.memory["products"][0], self.memory["factor"])

    def draw_factors(self, first: Tensor, factor: Tensor) -> tuple[Tensor, Tensor]:
        """Draw the first matrix, and the factor of all products, which keeps the size of the numbers."""
        return self.factors.fill(first), self.factors.fill(factor).mul_(math.sqrt(3 / self.size.width))

    def error(self) -> float:
        """Return the largest error of a product (0 on a CPU), or infinity if a row is wrong."""
        return self.error_of_products() if self.has_right_rows() else float("inf")

    def error_of_products(self) -> float:
        """Return the largest error of a product, relative to the product of the factor and the matrix before."""
        if not self.size.width:
            return 0.0
        products = self.results["products"]
        self.factors.rewind()
        first, factor = self.draw_factors(torch.empty_like(products[0]), torch.empty_like(products[0]))
        pairs = pairwise([first, *products[1:]])
        return max(speed.relative_error(factor, before, product) for before, product in pairs)

    def has_right_rows(self) -> bool:
        """Return whether all rows are correct."""
        rows = self.results["batch"]
        firsts = rows[..., :KEY_TOKENS].cpu().flatten(0, 1).numpy()
        last = len(self.data) - self.size.sequence
        starts = self.starts(firsts)
        if ((firsts < 0) | (firsts >= 2**16)).any() or (starts >= last).any():
            return False
        windows = torch.from_numpy(self.data.astype(np.int64)).to(rows.device).unfold(0, self.size.sequence, 1)
        places = torch.from_numpy(starts).reshape(rows.shape[:2]).to(rows.device)
        same = all(torch.equal(windows[place], batch) for place, batch in zip(places, rows, strict=True))
        return same and self.drawn_anew(starts, last)

    def starts(self, firsts: np.ndarray) -> np.ndarray:
        """Find the start of each row by its first tokens. The caller compares the remaining tokens.

        For speed, sort only the places whose first two tokens may begin a row.
        firsts: [rows, KEY_TOKENS]   returns: [rows]
        """
        wanted = np.zeros(2**HASH_BITS, bool)
        wanted[hashed(firsts[:, 0], firsts[:, 1])] = True
        width = len(self.data) - KEY_TOKENS + 1
        places = np.flatnonzero(wanted[hashed(self.data[:width], self.data[1 : width + 1])])
        found_there = keys(self.data[places[:, None] + np.arange(KEY_TOKENS)])
        order = np.argsort(found_there)
        behind = np.append(places[order], len(self.data))
        return behind[np.searchsorted(found_there, keys(firsts), sorter=order)]

    def drawn_anew(self, starts: np.ndarray, last: int) -> bool:
        """Return whether the starts are spread like random ones, both over all batches and within each batch.

        starts: [calls · B], each in [0, last)
        """
        distinct = last * -np.expm1(len(starts) * np.log1p(-1 / last))
        covered = last * -np.expm1(self.size.batch * np.log1p(-min(1.0, self.size.sequence / last)))
        batches = np.sort(starts.reshape(-1, self.size.batch))
        reach = np.minimum(np.diff(batches, append=last + self.size.sequence), self.size.sequence).sum(-1)
        enough = reach > LEAST_SHARE * covered - SPARE * self.size.sequence
        return len(np.unique(starts)) > LEAST_SHARE * distinct - SPARE and bool(enough.all())


def keys(tokens: np.ndarray) -> np.ndarray:
    """Combine each row of tokens into a single number. [rows, KEY_TOKENS] -> [rows]"""
    made: np.ndarray = (tokens.astype(np.uint64) << 16 * np.arange(KEY_TOKENS, dtype=np.uint64)).sum(-1)
    return made


def hashed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a hash of two consecutive tokens, with HASH_BITS bits."""
    made: np.ndarray = (second & 2 ** (HASH_BITS - 16) - 1).astype(np.int32) << 16
    made |= (first & 0xFFFF).astype(np.int32)
    return made


class GetBatchThroughput(speed.Rate):
    """Batches reach the device about as fast as with a plain gather, and overlap with computation.

    Student and baseline queue the same product after each batch, which takes longer than a gather. The ratio is 1 if
    gathering and copying overlap with the product. It is lower if gathering takes longer, or if a copy waits for the
    product before it.
    """

    sizes = {
        "cpu": speed.Size(batch=128, sequence=512, tokens=2**18),
        "cuda": speed.Size(batch=256, sequence=4096, tokens=2**24, width=16384),  # 8.8 TFLOP: 11 to 14 ms on an H100
    }
    unit = "tokens"
    check = BatchCheck

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """Return the data, which is shared by all calls, and the batches."""
        return {
            "data": speed.Field((size.tokens,), torch.uint16, "given", on_host=True),
            "batch": speed.Field((calls, size.batch, size.sequence), torch.int64, "filled"),
            **(fields_of_products(size.width, calls) if size.width else {}),
        }

    def amount(self, size: speed.Size) -> float:
        """Return the number of tokens in a batch."""
        return size.batch * size.sequence

    def check_bytes(self, size: speed.Size, calls: int) -> int:  # noqa: ARG002
        """Return the bytes of the data and of a batch in int64, and of the check of the products."""
        matrices = 2 * size.width**2 * torch.bfloat16.itemsize
        return 8 * (size.tokens + 2 * size.batch * size.sequence) + matrices + speed.CHECK_BYTES

    def working_bytes(self, size: speed.Size, calls: int) -> int:  # noqa: ARG002
        """Return the bytes of a few batches."""
        return 4 * 8 * size.batch * size.sequence

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """Return a function that gets a block of batches from the student's get_batch."""
        data = memory["data"].numpy()
        compute = multiply(memory)

        def run() -> None:
            for call, batch in enumerate(memory["batch"]):
                batch.copy_(assignment.get_batch.get_batch(data, size.batch, size.sequence, device))
                compute(call)

        return run

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """Return a function that gathers a block of batches, each with a single indexing operation."""
        data = memory["data"].numpy()
        windows = np.lib.stride_tricks.sliding_window_view(data, size.sequence)
        compute = multiply(memory)

        def run() -> None:
            for call, batch in enumerate(memory["batch"]):
                starts = torch.randint(len(windows) - 1, (size.batch,)).numpy()
                tokens = torch.from_numpy(windows[starts].astype(np.int64))
                batch.copy_(tokens.pin_memory().to(device, non_blocking=True) if device == "cuda" else tokens)
                compute(call)

        return run

    def remark(self, measured: speed.Measured) -> Text:
        """Return advice on avoiding loops over rows and blocking copies."""
        if measured.ratio < COPY_COSTS or measured.kind == "cpu":
            return Text(
                "{ratio} times the speed of a plain gather: are rows sliced in a Python loop? Index all of them "
                "at once: starts[:, None] + arange(sequence_length).",
                ratio=f"{measured.ratio:.2f}",
            )
        return Text(
            "{ratio} times the speed with perfect overlap: the copy makes the device wait. Use "
            "`pin_memory()`, then `.to(device, non_blocking=True)`.",
            ratio=f"{measured.ratio:.2f}",
        )


def fields_of_products(width: int, calls: int) -> dict[str, speed.Field]:
    """Return the factor of all products, and the first matrix with the product of each call."""
    return {
        "factor": speed.Field((width, width), torch.bfloat16, "given"),
        "products": speed.Field((calls + 1, width, width), torch.bfloat16, "both"),
    }


def multiply(memory: speed.Memory) -> Callable[[int], object]:
    """Return a function that queues the product of a call, or that does nothing if there are no matrices."""
    if "factor" not in memory:
        return lambda _: None
    factor, products = memory["factor"], memory["products"]
    return lambda call: torch.mm(factor, products[call], out=products[call + 1])
