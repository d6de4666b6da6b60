"""Uses the student's own functions to predict the cost of a training step of `kata speak`, and measures its memory."""

import math
from typing import Any

import torch
from torch import Tensor

from reference.generate_text.training_run import Run, Speaker

TIMINGS = 9  # number of timed matmuls; the fastest counts, because other programs can only make it slower


def find_cost(speaker: Speaker, found: Run, model: Any) -> None:
    """Predict a step's FLOPs and memory, and a checkpoint's size, using the student's functions.

    Looking up embeddings takes no FLOPs. Each layer saves 12 activations of width `dim` for each token: the inputs and
    results of two norms, the queries, keys and values, the result of the attention, and four inside the MLP. It also
    saves the weights of each head for each token, before and after masked ones are set to 0.
    """
    kata, settings = speaker.assignment, found.settings
    dim, layers, context, rows = (settings[name] for name in ("dim", "num_layers", "context", "batch_size"))
    parameters = speaker.positive("num_parameters", kata.memory_accounting.num_parameters(model))
    multiplied = parameters - (256 + context) * dim
    flops = kata.flop_accounting.training_flops(rows * context, multiplied)
    attention = 2 * kata.flop_accounting.matmul_flops(context, dim, context)  # scores, then weighted sums of values
    activations = rows * context * (layers * (12 * dim + 2 * math.gcd(dim, 4) * context) + 2 * dim + 256)
    memory = kata.memory_accounting.training_bytes(parameters, activations)
    checkpoint = kata.memory_accounting.training_bytes(parameters, 0, gradient_bytes=0)
    found.predicted = {
        "parameters": parameters,
        "flops": speaker.positive("training_flops", flops) + 3 * layers * rows * attention,
        "memory": speaker.positive("training_bytes", memory),
        "checkpoint": speaker.positive("training_bytes", checkpoint),
    }


def measure_speed(speaker: Speaker, found: Run) -> None:
    """Measure the device's FLOP/s with the student's `time_matmul`, and look up its peak."""
    kata, settings = speaker.assignment, found.settings
    dim, rows = settings["dim"], settings["batch_size"] * settings["context"]
    dtype = torch.bfloat16 if settings.get("bfloat16") else torch.float32
    x, weight = (torch.randn(n, dim, device=settings["device"]).to(dtype) for n in (rows, dim))
    times = [speaker.positive("time_matmul", kata.time_matmul.time_matmul(x, weight)) for _ in range(TIMINGS)]
    speed = kata.flop_accounting.matmul_flops(rows, dim, dim) / min(times)
    found.predicted |= {"speed": speed, "promised": look_up_promised(kata, settings["device"], dtype) or speed}


def look_up_promised(kata: Any, device: str, dtype: torch.dtype) -> float | None:
    """Return the GPU's FLOP/s from the student's table, or None if there is no GPU or the table does not contain it."""
    if device == "cpu":
        return None
    try:
        promised: float = kata.promised_flops.promised_flop_per_sec(torch.cuda.get_device_name(device), dtype)
    except ValueError:
        return None
    return promised


def find_mfu(speaker: Speaker, found: Run, seconds: float) -> float:
    """Return the MFU of a step that takes the given number of seconds."""
    mfu: float = speaker.assignment.promised_flops.mfu(found.predicted["flops"], seconds, found.predicted["promised"])
    return mfu


def measure_memory(speaker: Speaker, found: Run, model: Any, optimizer: Any) -> int:
    """Return the bytes of the parameters, the gradients, the optimizer's state, and the tensors saved by autograd."""
    kata, settings, kept = speaker.assignment, found.settings, dict[int, Tensor]()

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    data = kata.memmap_tokens.load_tokens(speaker.tokens)
    batch = kata.get_batch.get_batch(data, settings["batch_size"], settings["context"] + 1, settings["device"])
    autocast = torch.autocast(batch.device.type, torch.bfloat16, enabled=settings.get("bfloat16", False))
    with autocast, torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        kata.language_model.loss(model, batch)
    parameters = [*model.parameters()]
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, Tensor):
                keep(value)
    own = {p.untyped_storage().data_ptr() for p in parameters}
    others = [tensor for place, tensor in kept.items() if place not in own]
    total: int = sum(map(kata.memory_accounting.tensor_bytes, [*parameters, *parameters, *others]))
    return total
