"""Probes for get_batch that return batches, devices, seeds and the number of bytes read."""

import copy
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkata import typed

from .attempts import refusal
from .residence import read_nothing_ahead, resident_bytes
from .simulated_machine import Machine, simulating


def data_line(data: Tensor, literal: Callable[[Any], str]) -> str:
    """Return the line of code that defines `data`."""
    return f"data = {literal(data.numpy())}"


@typed(
    lambda data, from_file, literal: "\n".join(
        [
            data_line(data, literal),
            *(['data.tofile("tokens.bin")', 'data = np.memmap("tokens.bin", dtype=data.dtype, mode="r")'] * from_file),
            "torch.manual_seed(seed)",
            "get_batch(data, batch_size, sequence_length)",
        ]
    )
)
def batch(
    assignment: Any, data: Tensor, batch_size: int, sequence_length: int, seed: int, from_file: bool
) -> dict[str, object]:
    """Return one batch, drawn from an array or from a memory-mapped file."""
    torch.default_generator.manual_seed(seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tokens = read_only(data)
        if from_file:
            path = Path(folder) / "tokens.bin"
            tokens.tofile(path)
            tokens = np.memmap(path, dtype=tokens.dtype, mode="r")
        result = assignment.get_batch.get_batch(tokens, batch_size, sequence_length)
        return {"batch": result, "device": device_name(result)}


def read_only(data: Tensor) -> Any:
    """Return the tokens as a read-only array, like a memory-mapped file."""
    tokens = data.numpy()
    tokens.flags.writeable = False
    return tokens


def device_name(result: object) -> str:
    """Return the name of a tensor's device."""
    return str(result.device) if isinstance(result, Tensor) else "no tensor"


@typed(
    lambda data, literal: "\n".join(
        [
            data_line(data, literal),
            "position = {token: i for i, token in enumerate(data.tolist())}",
            "torch.manual_seed(seed)",
            "batches = [get_batch(data, batch_size, sequence_length) for _ in range(calls)]",
            "[[position.get(token, -1) for token in batch[:, 0].tolist()] for batch in batches]",
        ]
    )
)
def first_tokens(assignment: Any, data: Tensor, batch_size: int, sequence_length: int, calls: int, seed: int) -> object:
    """Return the first token of each row of many batches, or the first batch with a wrong shape."""
    torch.default_generator.manual_seed(seed)
    batches = [assignment.get_batch.get_batch(read_only(data), batch_size, sequence_length) for _ in range(calls)]
    for batch in batches:
        if not isinstance(batch, Tensor) or batch.shape != (batch_size, sequence_length):
            return batch
    return torch.stack([batch[:, 0].to(torch.int64) for batch in batches])


@typed("data = np.arange(length, dtype=np.int32)\ntorch.manual_seed(seed)\nget_batch(data, batch_size, 1)")
def large_starts(assignment: Any, length: int, batch_size: int, seed: int) -> object:
    """Return one batch drawn from `length` tokens, where each token is equal to its index."""
    torch.default_generator.manual_seed(seed)
    return assignment.get_batch.get_batch(np.arange(length, dtype=np.int32), batch_size, 1)


@typed(
    lambda data, literal: "\n".join(
        [
            data_line(data, literal),
            "for numpy_seed, random_seed in [(1, 1), (1, 1), (2, 1), (1, 2)]:",
            "    torch.manual_seed(seed)",
            "    np.random.seed(numpy_seed)",
            "    random.seed(random_seed)",
            "    print([get_batch(data, batch_size, sequence_length) for _ in range(2)])",
        ]
    )
)
def repeated(assignment: Any, data: Tensor, batch_size: int, sequence_length: int, seed: int) -> dict[str, object]:
    """Return pairs of batches with the same torch seed but different NumPy and `random` seeds, and the torch seed."""

    def pair(numpy_seed: int, random_seed: int) -> list[object]:
        torch.default_generator.manual_seed(seed)
        np.random.seed(numpy_seed)
        random.seed(random_seed)
        return [assignment.get_batch.get_batch(read_only(data), batch_size, sequence_length) for _ in range(2)]

    return {"batches": [pair(1, 1), pair(1, 1), pair(2, 1), pair(1, 2)], "seed": torch.initial_seed()}


@typed(
    lambda data, device, as_object, literal: (
        f"{data_line(data, literal)}\nget_batch(data, batch_size, sequence_length, device="
        + (f"torch.device({device!r}))" if as_object else f"{device!r})")
    )
)
def on_device(
    assignment: Any, data: Tensor, batch_size: int, sequence_length: int, device: str, as_object: bool
) -> list[object]:
    """Return the device and the shape of a batch."""
    where = torch.device(device) if as_object else device
    result = assignment.get_batch.get_batch(read_only(data), batch_size, sequence_length, device=where)
    return [device_name(result), list(result.shape) if isinstance(result, Tensor) else "no shape"]


def write_copies(data: Tensor, device: str, as_object: bool, literal: Callable[[Any], str]) -> str:
    """Return code that draws a batch for a simulated CUDA device and lists the copies made to it."""
    return "\n".join(
        [
            "from tests.probes.simulated_machine import Machine, simulating",
            data_line(data, literal),
            "with simulating(Machine(on_gpu=True)) as gpu:",
            f"    get_batch(data, batch_size, 4, device={f'torch.device({device!r})' if as_object else repr(device)})",
            "    on_cpu = get_batch(data, batch_size, 4, device='cpu').is_pinned()",
            "gpu.copies, on_cpu",
        ]
    )


@typed(write_copies)
def copies_to_gpu(assignment: Any, data: Tensor, batch_size: int, device: str, as_object: bool) -> dict[str, object]:
    """Return the copies made to a simulated CUDA device for one batch, and whether the batch is on this device.

    For a batch on the CPU of the same machine, return whether it is pinned.
    """
    where = torch.device(device) if as_object else device
    with simulating(Machine(on_gpu=True)) as gpu:
        result = assignment.get_batch.get_batch(read_only(data), batch_size, 4, device=where)
    with simulating(Machine(on_gpu=True)) as other:
        on_cpu = assignment.get_batch.get_batch(read_only(data), batch_size, 4, device="cpu")
        is_pinned = other.is_pinned(on_cpu)
    return {"copies": gpu.copies, "is there": gpu.holds(result), "pinned on CPU": is_pinned}


@typed(
    lambda data, literal: "\n".join(
        [
            data_line(data, literal),
            "torch.manual_seed(seed)",
            "batch = get_batch(data, batch_size, sequence_length)",
            "data ^= 1",
            "batch",
        ]
    )
)
def later_change(assignment: Any, data: Tensor, batch_size: int, sequence_length: int, seed: int) -> dict[str, object]:
    """Return a batch before and after its data is overwritten, and the data after the call."""
    torch.default_generator.manual_seed(seed)
    tokens = data.numpy().copy()
    result = assignment.get_batch.get_batch(tokens, batch_size, sequence_length)
    before = result.clone() if isinstance(result, Tensor) else copy.deepcopy(result)
    untouched = torch.from_numpy(tokens.copy())
    tokens ^= 1
    return {"data": untouched, "batch": before, "batch later": result}


@typed(
    lambda data, literal: "\n".join(
        [
            "get_batch(np.arange(sequence_length + 1), batch_size, sequence_length)",
            data_line(data, literal),
            "get_batch(data, batch_size, sequence_length)",
        ]
    )
)
def too_short(assignment: Any, data: Tensor, batch_size: int, sequence_length: int) -> list[str]:
    """Return the class names of the error raised for too little data. A call with just enough data must succeed."""
    get_batch = assignment.get_batch.get_batch
    get_batch(np.arange(sequence_length + 1), batch_size, sequence_length)
    return refusal(lambda: get_batch(data.numpy(), batch_size, sequence_length))


@typed(
    "\n".join(
        [
            "from tests.probes.residence import read_nothing_ahead, resident_bytes",
            'file = Path("tokens.bin")',
            "with file.open('wb') as opened:",
            "    opened.truncate(file_bytes)",
            'data = np.memmap(file, dtype=np.uint16, mode="r")',
            "read_nothing_ahead(data)",
            "get_batch(data, batch_size, sequence_length)",
            "read = resident_bytes(data, file)",
            "file.unlink()",
            "read",
        ]
    )
)
def bytes_read(assignment: Any, file_bytes: int, batch_size: int, sequence_length: int) -> int | None:
    """Return how many bytes of a memory-mapped file are resident after one batch, or None on Windows."""
    if sys.platform == "win32":
        return None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "tokens.bin"
        with path.open("wb") as file:
            file.truncate(file_bytes)
        data = np.memmap(path, dtype=np.uint16, mode="r")
        read_nothing_ahead(data)
        assignment.get_batch.get_batch(data, batch_size, sequence_length)
        return resident_bytes(data, path)
