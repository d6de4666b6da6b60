"""Mistakes in checkpoints: what does not come back."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from reference.checkpoint import oracle
from reference.checkpoint.oracle import Run, Weights
from torchkata import instead_of


@instead_of(oracle.after_loading, "the model that was passed in is as it was before loading")
def model_untouched(saved: Weights, before: Weights, later: Weights) -> Weights:
    return before


@instead_of(oracle.after_loading, "what was saved goes on changing with the model: it is kept in memory, no copy of it")
def model_of_now(saved: Weights, before: Weights, later: Weights) -> Weights:
    return later


@instead_of(oracle.after_loading, "the weights pass through bfloat16, which rounds them")
def through_bfloat16(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.bfloat16().to(weight.dtype) for weight in saved]


@instead_of(oracle.after_loading, "the weights pass through float16, which rounds them")
def through_float16(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.half().to(weight.dtype) for weight in saved]


@instead_of(oracle.after_loading, "the weights pass through float32, which rounds those of float64")
def through_float32(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.float().to(weight.dtype) for weight in saved]


@instead_of(oracle.after_loading, "NaN and infinities are replaced by numbers")
def cleaned(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.nan_to_num() for weight in saved]


@instead_of(oracle.after_loading, "the smallest numbers come back as 0")
def pruned(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.masked_fill(weight.abs() < 1e-30, 0) for weight in saved]


@instead_of(oracle.after_loading, "-0.0 comes back as 0.0")
def zero_without_sign(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.masked_fill(weight == 0, 0) for weight in saved]


@instead_of(oracle.buffer_after_loading, "buffers do not come back: model.state_dict() has them beside the parameters")
def without_buffers(saved: Tensor, before: Tensor) -> Tensor:
    return before


@instead_of(oracle.rest_of_the_run, "the optimizer goes on as a new one: its state is not in the file")
def optimizer_not_saved(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["through"] if any(found["memory"]) or not all(found["weights"]) else runs["a new optimizer"]


@instead_of(
    oracle.rest_of_the_run, "the optimizer goes on as a new one: its state is in the file, but not loaded into it"
)
def optimizer_not_loaded(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["a new optimizer"] if all(found["memory"]) else runs["through"]


@instead_of(oracle.rest_of_the_run, "the optimizer goes on at its first rate: lr, which had been changed, is lost")
def rate_lost(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["the first rate"]


@instead_of(oracle.rest_of_the_run, "the rate comes back, and what the optimizer remembered of the gradients does not")
def memory_lost(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["no memory"]


@instead_of(oracle.rest_of_the_run, "steps after loading move nothing, as where the optimizer holds other parameters")
def nothing_moves(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["no step"]
